//! What Python's strings can do.

use minijinja::value::from_args;
use minijinja::Value;

use crate::args::{bind, flag, integer, integer_or, required, size, some, string, text_or};
use crate::characters::*;
use crate::format::{braces, braces_of_map};
use crate::objects::{is_plain_tuple, tuple};
use crate::spec::pad;
use crate::style::{check_size, error, is_printable, Result};

/// Tells the characters that strip() removes.
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

/// str.splitlines()
pub fn split_lines(text: &str, keep_ends: bool) -> Vec<&str> {
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
fn split_spaces(text: &str, limit: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let end = match words.len() >= limit {
            true => rest.len(),
            false => rest.find(is_space).unwrap_or(rest.len()),
        };
        words.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(is_space);
    }
    words
}

/// str.rsplit() at spaces.
fn split_spaces_back(text: &str, limit: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        let space = match words.len() >= limit {
            true => None,
            false => rest.char_indices().rev().find(|&(_, c)| is_space(c)),
        };
        let begin = space.map_or(0, |(at, c)| at + c.len_utf8());
        words.push(&rest[begin..]);
        rest = rest[..begin].trim_end_matches(is_space);
    }
    words.reverse();
    words
}

fn list_of(words: Vec<&str>) -> Value {
    words.into_iter().map(Value::from).collect()
}

fn split(text: &str, back: bool, args: &[Value]) -> Result<Value> {
    let [separator, limit] = bind(["sep", "maxsplit"], args)?;
    let limit = usize::try_from(integer_or(limit, -1)?).unwrap_or(usize::MAX);
    let Some(separator) = some(separator) else {
        return Ok(list_of(match back {
            true => split_spaces_back(text, limit),
            false => split_spaces(text, limit),
        }));
    };
    let separator = string(&separator)?;
    if separator.is_empty() {
        return Err(error("empty separator"));
    }
    let parts = limit.saturating_add(1);
    if !back {
        return Ok(list_of(text.splitn(parts, separator).collect()));
    }
    let mut words: Vec<&str> = text.rsplitn(parts, separator).collect();
    words.reverse();
    Ok(list_of(words))
}

/// The text before the separator, the separator, and the text after it. Where it
/// is not found, the whole text is the first or, of rpartition(), the last.
fn partition(text: &str, back: bool, args: &[Value]) -> Result<Value> {
    let [separator] = bind(["sep"], args)?;
    let separator = required("sep", separator)?;
    let separator = string(&separator)?;
    if separator.is_empty() {
        return Err(error("empty separator"));
    }
    let at = match back {
        true => text.rfind(separator),
        false => text.find(separator),
    };
    let parts = match at {
        Some(at) => [&text[..at], separator, &text[at + separator.len()..]],
        None if back => ["", "", text],
        None => [text, "", ""],
    };
    Ok(tuple(parts.map(Value::from).to_vec()))
}

/// text[start:end], and the characters before it; None: it is none, as start is
/// after end or after the text.
fn span(text: &str, start: Option<Value>, end: Option<Value>) -> Result<Option<(&str, usize)>> {
    let length = text.chars().count() as i64;
    let clamp = |value: Option<Value>, default: i64| -> Result<i64> {
        let at = integer_or(some(value), default)?;
        Ok(if at < 0 { (at + length).max(0) } else { at })
    };
    let (start, end) = (clamp(start, 0)?, clamp(end, length)?.min(length));
    if start > end {
        return Ok(None);
    }
    let offset = |at: i64| {
        text.char_indices()
            .nth(at as usize)
            .map_or(text.len(), |(i, _)| i)
    };
    Ok(Some((&text[offset(start)..offset(end)], start as usize)))
}

fn find(text: &str, method: &str, args: &[Value]) -> Result<Value> {
    let [wanted, start, end] = bind(["sub", "start", "end"], args)?;
    let wanted = required("sub", wanted)?;
    let wanted = string(&wanted)?;
    let found = span(text, start, end)?.and_then(|(part, before)| {
        let at = match method.starts_with('r') {
            true => part.rfind(wanted),
            false => part.find(wanted),
        };
        at.map(|at| before + part[..at].chars().count())
    });
    match found {
        Some(at) => Ok(Value::from(at)),
        None if method.ends_with("index") => Err(error("substring not found")),
        None => Ok(Value::from(-1)),
    }
}

fn count(text: &str, args: &[Value]) -> Result<Value> {
    let [wanted, start, end] = bind(["sub", "start", "end"], args)?;
    let wanted = required("sub", wanted)?;
    let wanted = string(&wanted)?;
    let Some((part, _)) = span(text, start, end)? else {
        return Ok(Value::from(0));
    };
    Ok(Value::from(match wanted.is_empty() {
        true => part.chars().count() + 1,
        false => part.matches(wanted).count(),
    }))
}

/// str.startswith() and str.endswith(), of one text or a tuple of some.
fn begins(text: &str, at_end: bool, args: &[Value]) -> Result<Value> {
    let [wanted, start, end] = bind(["prefix", "start", "end"], args)?;
    let wanted = required("prefix", wanted)?;
    let all: Vec<Value> = match is_plain_tuple(&wanted) {
        true => wanted.try_iter()?.collect(),
        false => vec![wanted],
    };
    let part = span(text, start, end)?;
    for wanted in &all {
        let wanted = string(wanted)?;
        let found = part.is_some_and(|(part, _)| match at_end {
            true => part.ends_with(wanted),
            false => part.starts_with(wanted),
        });
        if found {
            return Ok(Value::from(true));
        }
    }
    Ok(Value::from(false))
}

/// str.center(), str.ljust(), str.rjust()
fn justify(text: &str, method: &str, args: &[Value]) -> Result<Value> {
    let [width, fill] = bind(["width", "fillchar"], args)?;
    let width = size(Some(required("width", width)?), 0)?;
    let fill = text_or(fill, " ")?;
    let mut fill = fill.chars();
    let (Some(fill), None) = (fill.next(), fill.next()) else {
        return Err(error(
            "The fill character must be exactly one character long",
        ));
    };
    Ok(Value::from(match method {
        "ljust" => pad(text, width, fill, '<'),
        "rjust" => pad(text, width, fill, '>'),
        _ => center(text, width, fill),
    }))
}

/// str.center(): of an odd number of spaces the one left over is before the text
/// if the width is odd.
pub fn center(text: &str, width: usize, fill: char) -> String {
    let length = text.chars().count();
    let missing = width.saturating_sub(length);
    let before = missing / 2 + (missing & width & 1);
    pad(&pad(text, length + before, fill, '>'), width, fill, '<')
}

fn fill_zeros(text: &str, args: &[Value]) -> Result<Value> {
    let [width] = bind(["width"], args)?;
    let width = size(Some(required("width", width)?), 0)?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = &text[..text.len() - digits.len()];
    let zeros = pad(digits, width.saturating_sub(sign.len()), '0', '>');
    Ok(Value::from(format!("{sign}{zeros}")))
}

fn expand_tabs(text: &str, args: &[Value]) -> Result<Value> {
    let [tab] = bind(["tabsize"], args)?;
    let tab = size(tab, 8)?;
    let (mut out, mut column) = (String::new(), 0);
    for c in text.chars() {
        if c == '\t' {
            let spaces = if tab == 0 { 0 } else { tab - column % tab };
            out.push_str(&" ".repeat(spaces));
            check_size(&out)?;
            column += spaces;
        } else {
            out.push(c);
            column = if matches!(c, '\n' | '\r') {
                0
            } else {
                column + 1
            };
        }
    }
    Ok(Value::from(out))
}

pub fn replace(text: &str, args: &[Value]) -> Result<Value> {
    let [old, new, limit] = bind(["old", "new", "count"], args)?;
    let (old, new) = (required("old", old)?, required("new", new)?);
    let (old, new) = (string(&old)?, string(&new)?);
    let limit = usize::try_from(integer_or(some(limit), -1)?).unwrap_or(usize::MAX);
    Ok(Value::from(text.replacen(old, new, limit)))
}

/// str.join(), which joins nothing but strings.
fn join(text: &str, args: &[Value]) -> Result<Value> {
    let [items] = bind(["iterable"], args)?;
    let mut out = String::new();
    for (at, item) in required("iterable", items)?.try_iter()?.enumerate() {
        if at > 0 {
            out.push_str(text);
        }
        out.push_str(string(&item)?);
        check_size(&out)?;
    }
    Ok(Value::from(out))
}

/// Characters by a table: a text, a character's number, or none.
fn translate(text: &str, args: &[Value]) -> Result<Value> {
    let [table] = bind(["table"], args)?;
    let table = required("table", table)?;
    let mut out = String::new();
    for c in text.chars() {
        let to = table.get_item(&Value::from(c as u32))?;
        match to.as_str() {
            Some(to) => out.push_str(to),
            None if to.is_none() => {}
            None if to.is_undefined() => out.push(c),
            None => {
                let to = char::from_u32(integer(&to)? as u32);
                out.push(to.ok_or_else(|| error("character mapping must be in range(0x110000)"))?);
            }
        }
        check_size(&out)?;
    }
    Ok(Value::from(out))
}

fn strip_method(text: &str, method: &str, args: &[Value]) -> Result<Value> {
    let [characters] = bind(["chars"], args)?;
    let characters = some(characters);
    let characters = characters.as_ref().map(string).transpose()?;
    let off = stripped(characters);
    Ok(Value::from(match method {
        "lstrip" => text.trim_start_matches(off),
        "rstrip" => text.trim_end_matches(off),
        _ => strip(text, characters),
    }))
}

fn remove(text: &str, at_end: bool, args: &[Value]) -> Result<Value> {
    let [part] = bind(["part"], args)?;
    let part = required("part", part)?;
    let part = string(&part)?;
    let rest = match at_end {
        true => text.strip_suffix(part),
        false => text.strip_prefix(part),
    };
    Ok(Value::from(rest.unwrap_or(text)))
}

/// Methods without arguments.
fn plain(text: &str, method: &str) -> Option<Value> {
    let of_all = |holds: fn(char) -> bool| !text.is_empty() && text.chars().all(holds);
    Some(match method {
        "upper" => Value::from(text.to_uppercase()),
        "lower" => Value::from(text.to_lowercase()),
        "title" => Value::from(title(text)),
        "capitalize" => Value::from(capitalize(text)),
        "swapcase" => Value::from(swap_case(text)),
        "casefold" => Value::from(case_fold(text)),
        "isspace" => Value::from(of_all(is_space)),
        "isdecimal" => Value::from(of_all(is_decimal)),
        "isdigit" => Value::from(of_all(is_digit)),
        "isnumeric" => Value::from(of_all(is_numeric)),
        "isalpha" => Value::from(of_all(char::is_alphabetic)),
        "isalnum" => Value::from(of_all(|c| c.is_alphabetic() || is_numeric(c))),
        "isascii" => Value::from(text.is_ascii()),
        "islower" => Value::from(is_lower_text(text)),
        "isupper" => Value::from(is_upper_text(text)),
        "istitle" => Value::from(is_title_text(text)),
        "isidentifier" => Value::from(is_identifier(text)),
        "isprintable" => Value::from(text.chars().all(is_printable)),
        _ => return None,
    })
}

/// The result of a method of Python's strings; None: there is no such method.
pub fn call(text: &str, method: &str, args: &[Value]) -> Result<Option<Value>> {
    if let Some(result) = plain(text, method) {
        let () = from_args(args)?;
        return Ok(Some(result));
    }
    Ok(Some(match method {
        "strip" | "lstrip" | "rstrip" => strip_method(text, method, args)?,
        "removeprefix" | "removesuffix" => remove(text, method == "removesuffix", args)?,
        "splitlines" => {
            let [keep_ends] = bind(["keepends"], args)?;
            list_of(split_lines(text, flag(keep_ends, false)))
        }
        "split" | "rsplit" => split(text, method == "rsplit", args)?,
        "partition" | "rpartition" => partition(text, method == "rpartition", args)?,
        "find" | "rfind" | "index" | "rindex" => find(text, method, args)?,
        "count" => count(text, args)?,
        "startswith" | "endswith" => begins(text, method == "endswith", args)?,
        "center" | "ljust" | "rjust" => justify(text, method, args)?,
        "zfill" => fill_zeros(text, args)?,
        "expandtabs" => expand_tabs(text, args)?,
        "replace" => replace(text, args)?,
        "join" => join(text, args)?,
        "translate" => translate(text, args)?,
        "format" => Value::from(braces(text, args)?),
        "format_map" => {
            let [map] = bind(["mapping"], args)?;
            Value::from(braces_of_map(text, &required("mapping", map)?)?)
        }
        "encode" => Value::from_bytes(text.as_bytes().to_vec()),
        _ => return Ok(None),
    }))
}
