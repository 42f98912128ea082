//! Filters that lay texts out in lines of some width.

use minijinja::Value;

use crate::args::{bind, flag, size, some, text_or};
use crate::strings::{center as center_text, split_lines};
use crate::style::{check_size, error, text_of, Result};

pub fn center(value: &Value, args: &[Value]) -> Result<Value> {
    let [width] = bind(["width"], args)?;
    Ok(center_text(&text_of(value)?, size(width, 80)?, ' ').into())
}

pub fn truncate(value: &Value, args: &[Value]) -> Result<Value> {
    let [length, kills, end, leeway] = bind(["length", "killwords", "end", "leeway"], args)?;
    let (length, end) = (size(length, 255)?, text_or(end, "...")?);
    let leeway = size(some(leeway), 5)?;
    let text = text_of(value)?;
    let ending = end.chars().count();
    if length < ending {
        return Err(error(format!("expected length >= {ending}, got {length}")));
    }
    if text.chars().count() <= length + leeway {
        return Ok(text.into());
    }
    let cut: String = text.chars().take(length - ending).collect();
    let kept = match cut.rfind(' ') {
        Some(space) if !flag(kills, false) => &cut[..space],
        _ => &cut,
    };
    Ok(format!("{kept}{end}").into())
}

/// Words, spaces, and the parts of words that end at a hyphen between letters.
fn chunks(line: &str, hyphens: bool) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut begin = 0;
    let all: Vec<(usize, char)> = line.char_indices().collect();
    for (n, &(at, c)) in all.iter().enumerate() {
        let Some(&(_, before)) = n.checked_sub(1).and_then(|n| all.get(n)) else {
            continue;
        };
        let letter = |n: Option<usize>| {
            n.and_then(|n| all.get(n))
                .is_some_and(|(_, c)| c.is_alphabetic())
        };
        let splits = hyphens
            && before == '-'
            && c.is_alphabetic()
            && letter(n.checked_sub(2))
            && letter(n.checked_sub(3));
        if (before.is_ascii_whitespace() != c.is_ascii_whitespace()) || splits {
            chunks.push(&line[begin..at]);
            begin = at;
        }
    }
    chunks.push(&line[begin..]);
    chunks.retain(|chunk| !chunk.is_empty());
    chunks.reverse();
    chunks
}

/// textwrap.wrap() of one line.
fn wrap(line: &str, width: usize, cuts: bool, hyphens: bool) -> Vec<String> {
    let mut rest = chunks(line, hyphens);
    let size = |text: &str| text.chars().count();
    let mut lines: Vec<String> = Vec::new();
    while !rest.is_empty() {
        let (mut current, mut length): (Vec<&str>, usize) = (Vec::new(), 0);
        if rest.last().is_some_and(|c| c.trim().is_empty()) && !lines.is_empty() {
            rest.pop();
        }
        while let Some(chunk) = rest.last().copied().filter(|c| length + size(c) <= width) {
            current.push(chunk);
            length += size(chunk);
            rest.pop();
        }
        if let Some(long) = rest.last().copied().filter(|c| size(c) > width) {
            let space = width - length;
            if cuts && space > 0 {
                let at = long
                    .char_indices()
                    .nth(space)
                    .map_or(long.len(), |(at, _)| at);
                current.push(&long[..at]);
                rest.pop();
                rest.push(&long[at..]);
            } else if current.is_empty() {
                current.push(long);
                rest.pop();
            }
        }
        if current.last().is_some_and(|c| c.trim().is_empty()) {
            current.pop();
        }
        if !current.is_empty() {
            lines.push(current.concat());
        }
    }
    lines
}

pub fn word_wrap(value: &Value, args: &[Value]) -> Result<Value> {
    let names = [
        "width",
        "break_long_words",
        "wrapstring",
        "break_on_hyphens",
    ];
    let [width, cuts, end, hyphens] = bind(names, args)?;
    let width = size(width, 79)?;
    if width == 0 {
        return Err(error("invalid width 0 (must be > 0)"));
    }
    let (cuts, hyphens) = (flag(cuts, true), flag(hyphens, true));
    let end = text_or(some(end), "\n")?;
    let text = text_of(value)?;
    let lines = split_lines(&text, false);
    let wrapped = lines
        .into_iter()
        .map(|line| wrap(line, width, cuts, hyphens).join(&end));
    let out = wrapped.collect::<Vec<String>>().join(&end);
    check_size(&out)?;
    Ok(out.into())
}

pub fn indent(value: &Value, args: &[Value]) -> Result<Value> {
    let [width, first, blank] = bind(["width", "first", "blank"], args)?;
    let margin = match width {
        Some(width) if width.as_str().is_some() => text_of(&width)?,
        width => " ".repeat(size(width, 4)?),
    };
    let (first, blank) = (flag(first, false), flag(blank, false));
    let text = text_of(value)? + "\n";
    let lines = split_lines(&text, false);
    let mut out = String::new();
    for (at, line) in lines.into_iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if (at > 0 || first) && (blank || !line.is_empty()) {
            out.push_str(&margin);
        }
        out.push_str(line);
        check_size(&out)?;
    }
    Ok(out.into())
}
