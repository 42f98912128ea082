//! Filters for texts in HTML, XML and URLs.

use minijinja::value::ValueKind;
use minijinja::Value;

use crate::args::{bind, flag};
use crate::characters::is_space;
use crate::objects::pairs_of;
use crate::style::{error, repr, text_of, Result};

fn quote(text: &str, query: bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                out.push(byte as char)
            }
            b'/' if !query => out.push('/'),
            b' ' if query => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

pub fn url_encode(value: &Value) -> Result<Value> {
    let pairs = match value.kind() {
        ValueKind::Map => pairs_of(value)?,
        ValueKind::Seq | ValueKind::Iterable => {
            let of = |pair: Value| Ok((pair.get_item_by_index(0)?, pair.get_item_by_index(1)?));
            value.try_iter()?.map(of).collect::<Result<_>>()?
        }
        _ => return Ok(quote(&text_of(value)?, false).into()),
    };
    let of = |(key, value): (Value, Value)| -> Result<String> {
        Ok(format!(
            "{}={}",
            quote(&text_of(&key)?, true),
            quote(&text_of(&value)?, true)
        ))
    };
    Ok(pairs
        .into_iter()
        .map(of)
        .collect::<Result<Vec<_>>>()?
        .join("&")
        .into())
}

pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    out
}

pub fn escape(value: &Value, again: bool) -> Result<Value> {
    if value.is_safe() && !again {
        return Ok(value.clone());
    }
    Ok(Value::from_safe_string(escaped(&text_of(value)?)))
}

pub fn strip_tags(value: &Value) -> Result<Value> {
    let mut text = text_of(value)?;
    for (open, close) in [("<!--", "-->"), ("<", ">")] {
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some((at, end)) = rest
            .find(open)
            .and_then(|at| Some((at, rest[at..].find(close)?)))
        {
            out.push_str(&rest[..at]);
            rest = &rest[at + end + close.len()..];
        }
        text = out + rest;
    }
    let words: Vec<&str> = text
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect();
    let mut out = words.join(" ");
    for (name, c) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&nbsp;", "\u{a0}"),
        ("&amp;", "&"),
    ] {
        out = out.replace(name, c);
    }
    Ok(out.into())
}

pub fn xml_attributes(value: &Value, args: &[Value]) -> Result<Value> {
    let [space] = bind(["autospace"], args)?;
    let mut out = Vec::new();
    for (key, value) in pairs_of(value)? {
        if value.is_none() || value.is_undefined() {
            continue;
        }
        let key = text_of(&key)?;
        if key.contains([' ', '\t', '\n', '\r', '\x0c', '/', '>', '=']) {
            return Err(error(format!(
                "Invalid character in attribute name: {}",
                repr(&Value::from(key))?
            )));
        }
        out.push(format!(
            "{}=\"{}\"",
            escaped(&key),
            escaped(&text_of(&value)?)
        ));
    }
    let text = out.join(" ");
    let space = if flag(space, true) && !text.is_empty() {
        " "
    } else {
        ""
    };
    Ok(format!("{space}{text}").into())
}
