//! The tokens of Jinja's expressions.

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Name,
    Number,
    Text, // in quotes
    Sign,
}

pub struct Token<'a> {
    pub kind: Kind,
    pub space: &'a str, // before it
    pub text: &'a str,
    pub depth: usize, // of the brackets around it
}

/// The tokens of a tag up to its `end`, and the size of both. None: it has no
/// end, or something that is no token.
pub fn tokens_of<'a>(text: &'a str, end: &str) -> Option<(Vec<Token<'a>>, usize)> {
    let mut tokens = Vec::new();
    let mut depth = 0usize;
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let space = rest.len() - rest.trim_start().len();
        let (space, rest) = rest.split_at(space);
        at += space.len();
        let margin = usize::from(rest.starts_with(['-', '+']));
        if depth == 0 && rest[margin..].starts_with(end) {
            return Some((tokens, at + margin + end.len()));
        }
        let (kind, size) = token(rest)?;
        let word = &rest[..size];
        if matches!(word, ")" | "]" | "}") && kind == Kind::Sign {
            depth = depth.checked_sub(1)?;
        }
        tokens.push(Token {
            kind,
            space,
            text: word,
            depth,
        });
        if matches!(word, "(" | "[" | "{") && kind == Kind::Sign {
            depth += 1;
        }
        at += size;
    }
}

fn token(rest: &str) -> Option<(Kind, usize)> {
    let first = rest.chars().next()?;
    let run = |holds: fn(char) -> bool| rest.find(|c| !holds(c)).unwrap_or(rest.len());
    if first == '_' || first.is_alphabetic() {
        return Some((Kind::Name, run(|c| c == '_' || c.is_alphanumeric())));
    }
    if first.is_ascii_digit() {
        return Some((Kind::Number, number(rest)));
    }
    if first == '\'' || first == '"' {
        let mut escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            if !escaped && c == first {
                return Some((Kind::Text, at + 1));
            }
            escaped = !escaped && c == '\\';
        }
        return None;
    }
    if let Some(two) = rest.get(..2) {
        if matches!(two, "**" | "//" | "==" | "!=" | "<=" | ">=") {
            return Some((Kind::Sign, 2));
        }
    }
    "+-*/%~()[]{}<>=.,:|"
        .contains(first)
        .then_some((Kind::Sign, 1))
}

/// The size of a number: 0x1f, 1_000, 1.5e-7. A point without a digit after it is
/// none of the number's.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if text.len() > 1 && bytes[0] == b'0' && matches!(bytes[1] | 32, b'x' | b'b' | b'o') {
        let odd = |c: char| !(c.is_ascii_hexdigit() || c == '_');
        return 2 + text[2..].find(odd).unwrap_or(text.len() - 2);
    }
    let run = |mut at: usize| {
        while digit(at) || (bytes.get(at) == Some(&b'_') && digit(at + 1)) {
            at += 1;
        }
        at
    };
    let mut at = run(0);
    if bytes.get(at) == Some(&b'.') && digit(at + 1) {
        at = run(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if digit(at + 1 + sign) {
            at = run(at + 1 + sign);
        }
    }
    at
}
