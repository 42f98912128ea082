//! Rewrites a template of Python's Jinja for minijinja: operators that Python
//! has otherwise become functions of python.rs, and so do tuples. A tag that this
//! module cannot read stays as it is, so that minijinja says what is wrong.

mod arithmetic;
mod filters;
mod logic;
mod methods;
mod operand;
mod parser;
mod statement;

use crate::tokens::tokens_of;
use parser::Parser;

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
