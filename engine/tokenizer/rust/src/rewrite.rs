//! Rewrites a template of Python's Jinja for minijinja: operators that Python
//! has otherwise become functions of python.rs, and so do tuples. A tag that this
//! module cannot read stays as it is, so that minijinja says what is wrong.

use crate::tokens::{tokens_of, Kind, Token};

/// Brackets in brackets. What is deeper stays as it is.
const MAX_DEPTH: usize = 100;
/// Attributes that are methods of strings and dicts, whatever keys a dict has.
const METHODS: &[&str] = &[
    "capitalize",
    "casefold",
    "center",
    "clear",
    "copy",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "fromkeys",
    "get",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "items",
    "join",
    "keys",
    "ljust",
    "lower",
    "lstrip",
    "maketrans",
    "partition",
    "pop",
    "popitem",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "setdefault",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "update",
    "upper",
    "values",
    "zfill",
];
const DICT_METHODS: &[&str] = &[
    "clear",
    "copy",
    "fromkeys",
    "get",
    "items",
    "keys",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "values",
];

pub fn rewrite(source: &str) -> String {
    // Jinja has one sort of line end.
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(source.len() * 2);
    let mut rest = source.as_str();
    while let Some(at) = next_tag(rest) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let size = tag(rest, &mut out);
        rest = &rest[size..];
    }
    out.push_str(rest);
    out
}

fn next_tag(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('{') {
        let at = from + at;
        if text[at + 1..].starts_with(['{', '%', '#']) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Writes the tag that `text` begins with, and returns its size.
fn tag(text: &str, out: &mut String) -> usize {
    let end = match &text[1..2] {
        "#" => "#}",
        "{" => "}}",
        _ => "%}",
    };
    if end == "#}" {
        let size = text.find(end).map_or(text.len(), |at| at + end.len());
        out.push_str(&text[..size]);
        return size;
    }
    let margin = usize::from(text[2..].starts_with(['-', '+']));
    let begin = 2 + margin;
    let Some((tokens, size)) = tokens_of(&text[begin..], end) else {
        out.push_str(text);
        return text.len();
    };
    let name = tokens
        .first()
        .filter(|_| end == "%}")
        .map_or("", |t| t.text);
    if name == "raw" {
        let size = text
            .find("endraw")
            .map_or(text.len(), |at| at + "endraw".len());
        out.push_str(&text[..size]);
        return size;
    }
    let size = begin + size;
    let close = match text[..size - end.len()].ends_with(['-', '+']) {
        true => size - end.len() - 1,
        false => size - end.len(),
    };
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        depth: 0,
        defaults: Vec::new(),
    };
    let inner = match end {
        "}}" => parser.tuple(true),
        _ => parser.statement(),
    };
    let Some(inner) = inner.filter(|_| parser.at == tokens.len()) else {
        out.push_str(&text[..size]);
        return size;
    };
    let space = &text[close - trailing_space(&text[begin..close])..close];
    out.push_str(&text[..begin]);
    out.push_str(&inner);
    let mut open = String::new();
    for (name, default) in &parser.defaults {
        // Arguments are given from the first to the last, as in Jinja.
        open.push_str(&format!(
            " %}}{{% set {name} = ({default}) if {name} is missing__ else {name}"
        ));
    }
    out.push_str(&open);
    out.push_str(space);
    out.push_str(&text[close..size]);
    size
}

fn trailing_space(text: &str) -> usize {
    text.len() - text.trim_end().len()
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    depth: usize,
    /// Arguments of a macro whose default values are not constant.
    defaults: Vec<(String, String)>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |token| token.text)
    }
    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }
    fn take(&mut self) -> String {
        let token = &self.tokens[self.at];
        self.at += 1;
        format!("{}{}", token.space, token.text)
    }
    fn accept(&mut self, text: &str) -> Option<String> {
        (self.peek() == text && self.kind() != Some(Kind::Text)).then(|| self.take())
    }
    fn take_name(&mut self) -> Option<String> {
        (self.kind() == Some(Kind::Name)).then(|| self.take())
    }
    fn rest(&mut self) -> String {
        let mut out = String::new();
        while self.at < self.tokens.len() {
            out.push_str(&self.take());
        }
        out
    }

    fn statement(&mut self) -> Option<String> {
        let name = self.peek();
        let mut out = self.take_name()?;
        match name {
            "if" | "elif" => out += &self.tuple(true)?,
            "for" => {
                out += &self.targets("in")?;
                out += &self.take();
                let items = self.tuple(false)?;
                out += &format!(" seq__({items})");
                if let Some(word) = self.accept("if") {
                    out += &(word + &self.ternary()?);
                }
                out += &self.accept("recursive").unwrap_or_default();
            }
            "set" => {
                if !self
                    .tokens
                    .iter()
                    .any(|token| token.text == "=" && token.depth == 0)
                {
                    return Some(out + &self.rest());
                }
                out += &self.targets("=")?;
                out += &self.take();
                out += &self.tuple(true)?;
            }
            "with" => {
                while self.at < self.tokens.len() {
                    out += &(self.take_name()? + &self.accept("=")? + &self.ternary()?);
                    out += &self.accept(",").unwrap_or_default();
                }
            }
            "macro" => {
                out += &self.take_name()?;
                out += &self.parameters()?;
            }
            "call" => {
                if self.peek() == "(" {
                    out += &self.parameters()?;
                }
                out += &self.ternary()?;
            }
            "generation" => out = out.replace(name, "with"),
            "endgeneration" => out = out.replace(name, "endwith"),
            _ => out += &self.rest(),
        }
        Some(out)
    }

    /// What is assigned to, up to `end`.
    fn targets(&mut self, end: &str) -> Option<String> {
        let mut out = String::new();
        while self.at < self.tokens.len() {
            if self.peek() == end && self.tokens[self.at].depth == 0 {
                return Some(out);
            }
            out += &self.take();
        }
        None
    }

    fn parameters(&mut self) -> Option<String> {
        let mut out = self.accept("(")?;
        loop {
            if let Some(close) = self.accept(")") {
                return Some(out + &close);
            }
            let name = self.take_name()?;
            out += &name;
            if let Some(equals) = self.accept("=") {
                let from = self.at;
                let value = self.ternary()?;
                let constant = |token: &Token| token.kind != Kind::Name || is_constant(token.text);
                if self.tokens[from..self.at].iter().all(constant) {
                    out += &(equals + &value);
                } else {
                    out += &(equals + "missing__");
                    self.defaults.push((name.trim().to_string(), value));
                }
            }
            match self.accept(",") {
                Some(comma) => out += &comma,
                None => return Some(out + &self.accept(")")?),
            }
        }
    }

    /// One expression, or several without brackets: a tuple.
    fn tuple(&mut self, with_if: bool) -> Option<String> {
        let one = |parser: &mut Self| match with_if {
            true => parser.ternary(),
            false => parser.or(),
        };
        let mut all = one(self)?;
        if self.peek() != "," || self.kind() == Some(Kind::Text) {
            return Some(all);
        }
        while let Some(comma) = self.accept(",") {
            all += &comma;
            if self.at == self.tokens.len() || self.peek() == ")" {
                break;
            }
            all += &one(self)?;
        }
        Some(format!(" tuple__({all})"))
    }

    fn ternary(&mut self) -> Option<String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut out = self.or()?;
        while let Some(word) = self.accept("if") {
            out += &(word + &self.or()?);
            if let Some(word) = self.accept("else") {
                out += &(word + &self.ternary()?);
            }
        }
        self.depth -= 1;
        Some(out)
    }

    fn or(&mut self) -> Option<String> {
        let mut out = self.and()?;
        while let Some(word) = self.accept("or") {
            out = format!("{}{word}{}", kept(out), self.and()?);
        }
        Some(out)
    }

    fn and(&mut self) -> Option<String> {
        let mut out = self.not()?;
        while let Some(word) = self.accept("and") {
            out = format!("{}{word}{}", kept(out), self.not()?);
        }
        Some(out)
    }

    fn not(&mut self) -> Option<String> {
        let mut words = String::new();
        while let Some(word) = self.accept("not") {
            words += &word;
        }
        Some(words + &self.compare()?)
    }

    fn compare(&mut self) -> Option<String> {
        let first = self.sum()?;
        let mut more = Vec::new();
        loop {
            let negated = self.peek() == "not";
            let operator = match self.peek() {
                "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" => self.take(),
                "not" => self.take() + &self.accept("in")?,
                _ => break,
            };
            more.push((operator, negated, self.sum()?));
        }
        let [(operator, negated, second)] = more.as_slice() else {
            let more = more
                .into_iter()
                .map(|(operator, _, value)| operator + &value);
            return Some(first + &more.collect::<String>());
        };
        let function = match operator.trim() {
            "==" => "eq__",
            "!=" => "not eq__",
            "<" => "lt__",
            "<=" => "le__",
            ">" => "gt__",
            ">=" => "ge__",
            _ if *negated => "not in__",
            _ => "in__",
        };
        let call = format!("{function}({first},{second})");
        Some(if call.starts_with("not") {
            format!(" ({call})")
        } else {
            format!(" {call}")
        })
    }

    fn sum(&mut self) -> Option<String> {
        let mut out = self.concat()?;
        loop {
            if let Some(sign) = self.accept("-") {
                out += &(sign + &self.concat()?);
                continue;
            }
            if self.peek() != "+" || self.kind() != Some(Kind::Sign) {
                return Some(out);
            }
            while self.accept("+").is_some() {
                out += &format!(",{}", self.concat()?);
            }
            out = format!(" add__({out})");
        }
    }

    fn concat(&mut self) -> Option<String> {
        let first = self.product()?;
        if self.peek() != "~" {
            return Some(first);
        }
        let mut all = first;
        while self.accept("~").is_some() {
            all += &format!(",{}", self.product()?);
        }
        Some(format!(" cat__({all})"))
    }

    fn product(&mut self) -> Option<String> {
        let mut out = self.power()?;
        loop {
            let function = match self.peek() {
                "*" => "mul__",
                "/" => "div__",
                "%" => "mod__",
                "//" => {
                    out += &self.take();
                    out += &self.power()?;
                    continue;
                }
                _ => return Some(out),
            };
            self.at += 1;
            out = format!(" {function}({out},{})", self.power()?);
        }
    }

    fn power(&mut self) -> Option<String> {
        let mut out = self.unary(true)?;
        while self.accept("**").is_some() {
            out = format!(" pow__({out},{})", self.unary(true)?);
        }
        Some(out)
    }

    fn unary(&mut self, with_filter: bool) -> Option<String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let out = match self.peek() {
            "-" if self.kind() == Some(Kind::Sign) => self.take() + &self.unary(false)?,
            "+" if self.kind() == Some(Kind::Sign) => {
                self.at += 1;
                self.unary(false)?
            }
            _ => {
                let primary = self.primary()?;
                self.postfix(primary)?
            }
        };
        self.depth -= 1;
        if with_filter {
            self.filters(out)
        } else {
            Some(out)
        }
    }

    fn primary(&mut self) -> Option<String> {
        match self.kind()? {
            Kind::Name | Kind::Number => Some(self.take()),
            Kind::Text => {
                let mut out = self.take();
                while self.kind() == Some(Kind::Text) {
                    out += &self.take();
                }
                Some(out)
            }
            Kind::Sign => match self.peek() {
                "(" => self.brackets(),
                "[" => self.list("[", "]", false),
                "{" => self.list("{", "}", true),
                _ => None,
            },
        }
    }

    /// A tuple, or an expression in brackets.
    fn brackets(&mut self) -> Option<String> {
        let open = self.accept("(")?;
        if let Some(close) = self.accept(")") {
            return Some(format!(" tuple__{open}{close}"));
        }
        let inner = self.tuple(true)?;
        Some(open + &inner + &self.accept(")")?)
    }

    fn list(&mut self, open: &str, close: &str, pairs: bool) -> Option<String> {
        let mut out = self.accept(open)?;
        loop {
            if let Some(end) = self.accept(close) {
                return Some(out + &end);
            }
            out += &self.ternary()?;
            if pairs {
                out += &(self.accept(":")? + &self.ternary()?);
            }
            match self.accept(",") {
                Some(comma) => out += &comma,
                None => return Some(out + &self.accept(close)?),
            }
        }
    }

    fn postfix(&mut self, from: String) -> Option<String> {
        let mut out = from;
        loop {
            out = match self.peek() {
                "." if self.kind() == Some(Kind::Sign) => self.attribute(out)?,
                "[" if self.kind() == Some(Kind::Sign) => out + &self.subscript()?,
                "(" if self.kind() == Some(Kind::Sign) => out + &self.arguments()?,
                _ => return Some(out),
            };
        }
    }

    fn attribute(&mut self, of: String) -> Option<String> {
        let point = self.take();
        let number = self.kind() == Some(Kind::Number);
        let name = self.peek();
        let text = if number {
            self.take()
        } else {
            self.take_name()?
        };
        let loops = of.trim() == "loop";
        if self.peek() == "(" || loops || !METHODS.contains(&name) {
            return Some(of + &point + &text);
        }
        let kind = usize::from(DICT_METHODS.contains(&name));
        Some(format!(" attr__({of},'{name}',{kind})"))
    }

    fn subscript(&mut self) -> Option<String> {
        let mut out = self.accept("[")?;
        loop {
            if let Some(end) = self.accept("]") {
                return Some(out + &end);
            }
            out += &match self.accept(":") {
                Some(colon) => colon,
                None => self.tuple(true)?,
            };
        }
    }

    fn arguments(&mut self) -> Option<String> {
        let mut out = self.accept("(")?;
        loop {
            if let Some(end) = self.accept(")") {
                return Some(out + &end);
            }
            let named = self
                .tokens
                .get(self.at + 1)
                .is_some_and(|token| token.text == "=");
            if matches!(self.peek(), "*" | "**") && self.kind() == Some(Kind::Sign) {
                out += &self.take();
            } else if named {
                out += &(self.take_name()? + &self.take());
            }
            out += &self.ternary()?;
            match self.accept(",") {
                Some(comma) => out += &comma,
                None => return Some(out + &self.accept(")")?),
            }
        }
    }

    fn filters(&mut self, from: String) -> Option<String> {
        let mut out = from;
        loop {
            if let Some(bar) = self.accept("|") {
                out += &(bar + &self.take_name()?);
                if self.peek() == "(" {
                    out += &self.arguments()?;
                }
            } else if let Some(word) = self.accept("is") {
                out += &word;
                out += &self.accept("not").unwrap_or_default();
                out += &self.take_name()?;
                out += &self.test_argument()?;
            } else {
                return Some(out);
            }
        }
    }

    fn test_argument(&mut self) -> Option<String> {
        let ends = matches!(
            self.peek(),
            "else" | "or" | "and" | "is" | "if" | "not" | "in"
        );
        match self.kind() {
            Some(Kind::Sign) if self.peek() == "(" => self.arguments(),
            Some(Kind::Sign) if !matches!(self.peek(), "[" | "{") => Some(String::new()),
            Some(Kind::Name) if ends => Some(String::new()),
            Some(_) => {
                let primary = self.primary()?;
                self.postfix(primary)
            }
            None => Some(String::new()),
        }
    }
}

fn is_constant(name: &str) -> bool {
    matches!(name, "true" | "false" | "none" | "True" | "False" | "None")
}

/// minijinja makes a Boolean of a constant before `and` and `or`.
fn kept(operand: String) -> String {
    let text = operand.trim_start();
    let constant = text.starts_with(['\'', '"']) || text.starts_with(|c: char| c.is_ascii_digit());
    match constant || is_constant(text) {
        true => format!(" same__({operand})"),
        false => operand,
    }
}
