//! What Python's strings can do.

use minijinja::value::from_args;
use minijinja::Value;

use crate::style::{error, Result};

/// str.isspace() of a character, which has four separators more than Unicode.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// Whether strip() takes a character off.
fn stripped(characters: Option<&str>) -> impl Fn(char) -> bool + Copy + '_ {
    move |c| match characters {
        Some(characters) => characters.contains(c),
        None => is_space(c),
    }
}

pub fn strip<'a>(text: &'a str, characters: Option<&str>) -> &'a str {
    let off = stripped(characters);
    text.trim_start_matches(off).trim_end_matches(off)
}

pub fn capitalize(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    first.chain(rest.as_str().to_lowercase().chars()).collect()
}

/// str.title(): a capital after each character that is no letter.
pub fn title(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        inside = c.is_alphabetic();
    }
    out
}

/// str.splitlines()
fn split_lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut begin = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if !matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}') {
            continue;
        }
        let mut end = at + c.len_utf8();
        if c == '\r' && characters.next_if(|&(_, c)| c == '\n').is_some() {
            end += 1;
        }
        lines.push(&text[begin..if keep_ends { end } else { at }]);
        begin = end;
    }
    if begin < text.len() {
        lines.push(&text[begin..]);
    }
    lines
}

/// str.split() at spaces, at most `limit` times.
fn split_spaces(text: &str, limit: Option<i64>) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let full = limit.is_some_and(|limit| limit >= 0 && words.len() as i64 >= limit);
        let end = if full {
            rest.len()
        } else {
            rest.find(is_space).unwrap_or(rest.len())
        };
        words.push(if full {
            rest.trim_end_matches(is_space)
        } else {
            &rest[..end]
        });
        rest = rest[end..].trim_start_matches(is_space);
    }
    words
}

/// str.rsplit() at a separator.
fn split_back<'a>(text: &'a str, separator: &str, limit: Option<i64>) -> Vec<&'a str> {
    let parts = limit
        .filter(|&limit| limit >= 0)
        .map_or(usize::MAX, |n| n as usize + 1);
    let mut words: Vec<&str> = text.rsplitn(parts, separator).collect();
    words.reverse();
    words
}

fn list_of(words: Vec<&str>) -> Value {
    words.into_iter().map(Value::from).collect()
}

/// What is before the separator, it, and what is after; the whole text comes
/// first or, where `last`, last if it is not there.
fn partition(text: &str, separator: &str, last: bool) -> Value {
    let at = if last {
        text.rfind(separator)
    } else {
        text.find(separator)
    };
    list_of(match at {
        Some(at) => vec![&text[..at], separator, &text[at + separator.len()..]],
        None if last => vec!["", "", text],
        None => vec![text, "", ""],
    })
}

/// Methods of Python's strings that pycompat lacks or has otherwise.
pub fn call(text: &str, method: &str, args: &[Value]) -> Result<Option<Value>> {
    let of_all = |holds: fn(char) -> bool| !text.is_empty() && text.chars().all(holds);
    Ok(Some(match method {
        "strip" | "lstrip" | "rstrip" => {
            let (characters,): (Option<&str>,) = from_args(args)?;
            let off = stripped(characters);
            Value::from(match method {
                "lstrip" => text.trim_start_matches(off),
                "rstrip" => text.trim_end_matches(off),
                _ => strip(text, characters),
            })
        }
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "title" => {
            let () = from_args(args)?;
            Value::from(title(text))
        }
        "capitalize" => {
            let () = from_args(args)?;
            Value::from(capitalize(text))
        }
        "splitlines" => {
            let (keep_ends,): (Option<bool>,) = from_args(args)?;
            list_of(split_lines(text, keep_ends.unwrap_or(false)))
        }
        "split" | "rsplit" => return split(text, method, args),
        "partition" | "rpartition" => {
            let (separator,): (&str,) = from_args(args)?;
            partition(text, separator, method == "rpartition")
        }
        "isspace" => Value::from(of_all(is_space)),
        "isdigit" | "isnumeric" | "isdecimal" => Value::from(of_all(char::is_numeric)),
        "isalpha" => Value::from(of_all(char::is_alphabetic)),
        "isalnum" => Value::from(of_all(char::is_alphanumeric)),
        "islower" => Value::from(text != text.to_uppercase() && text == text.to_lowercase()),
        "isupper" => Value::from(text != text.to_lowercase() && text == text.to_uppercase()),
        _ => return Ok(None),
    }))
}

fn split(text: &str, method: &str, args: &[Value]) -> Result<Option<Value>> {
    let (separator, limit): (Option<&str>, Option<i64>) = from_args(args)?;
    Ok(match (separator, method) {
        (Some(""), _) => return Err(error("empty separator")),
        (Some(separator), "rsplit") => Some(list_of(split_back(text, separator, limit))),
        (None, "split") => Some(list_of(split_spaces(text, limit))),
        (None, _) if limit.is_none_or(|limit| limit < 0) => Some(list_of(split_spaces(text, None))),
        (None, _) => return Err(error("rsplit(None, n) is not supported")),
        _ => None,
    })
}
