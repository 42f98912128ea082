//! Jinja's filters of texts and numbers, with Python's arguments and results.

use minijinja::value::ValueKind;
use minijinja::Value;

use crate::args::{bind, flag, integer, integer_or, required, size, some, text_or};
use crate::characters::{is_numeric, is_space};
use crate::strings::center as center_text;
use crate::style::{check_size, error, repr, text_of, Result};

/// int(text, base): None, if it is none.
fn parse_int(text: &str, base: u32) -> Option<i128> {
    let text = text.trim_matches(is_space);
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_lowercase();
    let prefixed = [(2, "0b"), (8, "0o"), (16, "0x")]
        .into_iter()
        .find_map(|(of, prefix)| Some((of, lower.strip_prefix(prefix)?)))
        .filter(|&(of, _)| base == of || base == 0);
    let (base, mut digits) =
        prefixed.unwrap_or((if base == 0 { 10 } else { base }, lower.as_str()));
    if prefixed.is_some() {
        digits = digits.strip_prefix('_').unwrap_or(digits);
    }
    let odd = digits.starts_with(['_', '+', '-']) || digits.ends_with('_') || digits.contains("__");
    if odd || !(2..=36).contains(&base) {
        return None;
    }
    Some(sign * i128::from_str_radix(&digits.replace('_', ""), base).ok()?)
}

/// float(text): None, if it is none.
fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim_matches(is_space);
    let near = |at: usize| {
        let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        at > 0 && digit(at - 1) && digit(at + 1)
    };
    if !text.match_indices('_').all(|(at, _)| near(at)) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

fn whole(number: f64) -> Option<Value> {
    let limit = 2f64.powi(126);
    let number = (number.abs() < limit).then(|| number.trunc() as i128)?;
    Some(i64::try_from(number).map_or(Value::from(number), Value::from))
}

pub fn int(value: &Value, args: &[Value]) -> Result<Value> {
    let [default, base] = bind(["default", "base"], args)?;
    let default = default.unwrap_or(Value::from(0));
    let base = integer_or(base, 10)?;
    let found = match value.kind() {
        ValueKind::Undefined => return Err(error("an undefined value is no number")),
        ValueKind::String => {
            let text = text_of(value)?;
            let exact = u32::try_from(base)
                .ok()
                .and_then(|base| parse_int(&text, base));
            match exact {
                Some(number) => {
                    Some(i64::try_from(number).map_or(Value::from(number), Value::from))
                }
                None => parse_float(&text).and_then(whole),
            }
        }
        ValueKind::Bool => Some(Value::from(integer(value)?)),
        ValueKind::Number if value.is_integer() => Some(value.clone()),
        ValueKind::Number => whole(f64::try_from(value.clone())?),
        _ => None,
    };
    Ok(found.unwrap_or(default))
}

pub fn float(value: &Value, args: &[Value]) -> Result<Value> {
    let [default] = bind(["default"], args)?;
    let found = match value.kind() {
        ValueKind::Undefined => return Err(error("an undefined value is no number")),
        ValueKind::String => parse_float(&text_of(value)?),
        ValueKind::Bool => Some(integer(value)? as f64),
        ValueKind::Number => f64::try_from(value.clone()).ok(),
        _ => None,
    };
    Ok(found
        .map(Value::from)
        .or(default)
        .unwrap_or(Value::from(0.0)))
}

/// round(number, precision): half to even, of the number's exact value.
fn round_float(number: f64, precision: i64) -> f64 {
    if !number.is_finite() {
        return number;
    }
    if precision >= 0 {
        let text = format!("{number:.*}", precision.min(400) as usize);
        return text.parse().unwrap_or(number);
    }
    let unit = 10f64.powi(precision.max(-400).unsigned_abs() as i32);
    (number / unit).round_ties_even() * unit
}

fn round_int(number: i128, precision: i64) -> Value {
    let mut number = number;
    if (-37..0).contains(&precision) {
        let unit = 10i128.pow(precision.unsigned_abs() as u32);
        let (below, rest) = (number.div_euclid(unit), number.rem_euclid(unit));
        let up = rest * 2 > unit || (rest * 2 == unit && below % 2 != 0);
        number = (below + i128::from(up)) * unit;
    } else if precision < 0 {
        number = 0;
    }
    i64::try_from(number).map_or(Value::from(number), Value::from)
}

pub fn round(value: &Value, args: &[Value]) -> Result<Value> {
    let [precision, method] = bind(["precision", "method"], args)?;
    let precision = integer_or(precision, 0)?;
    let method = text_or(method, "common")?;
    let integral = value.is_integer() || value.kind() == ValueKind::Bool;
    if !value.is_number() && !integral {
        return Err(error(format!("{} is not rounded", value.kind())));
    }
    let number = match value.kind() {
        ValueKind::Bool => integer(value)? as f64,
        _ => f64::try_from(value.clone())?,
    };
    let unit = 10f64.powi(precision.clamp(-400, 400) as i32);
    match method.as_str() {
        "common" if value.kind() == ValueKind::Bool => {
            Ok(round_int(integer(value)?.into(), precision))
        }
        "common" if integral => Ok(round_int(i128::try_from(value.clone())?, precision)),
        "common" => Ok(round_float(number, precision).into()),
        "ceil" => Ok(((number * unit).ceil() / unit).into()),
        "floor" => Ok(((number * unit).floor() / unit).into()),
        _ => Err(error("method must be common, ceil or floor")),
    }
}

pub fn abs(value: &Value) -> Result<Value> {
    match value.kind() {
        ValueKind::Bool => Ok(Value::from(integer(value)?)),
        ValueKind::Number if value.is_integer() => {
            let number = i128::try_from(value.clone())?.abs();
            Ok(i64::try_from(number).map_or(Value::from(number), Value::from))
        }
        ValueKind::Number => Ok(f64::try_from(value.clone())?.abs().into()),
        kind => Err(error(format!("{kind} has no absolute value"))),
    }
}

pub fn center(value: &Value, args: &[Value]) -> Result<Value> {
    let [width] = bind(["width"], args)?;
    Ok(center_text(&text_of(value)?, size(width, 80)?, ' ').into())
}

pub fn file_size(value: &Value, args: &[Value]) -> Result<Value> {
    let [binary] = bind(["binary"], args)?;
    let binary = flag(binary, false);
    let bytes = f64::try_from(float(value, &[])?)?;
    let base: f64 = if binary { 1024.0 } else { 1000.0 };
    if bytes == 1.0 {
        return Ok("1 Byte".into());
    }
    if bytes < base {
        return Ok(format!("{} Bytes", bytes as i64).into());
    }
    let mut unit = base;
    let mut letters = (if binary { "KMGTPEZY" } else { "kMGTPEZY" }).chars();
    let mut letter = letters.next().unwrap_or('k');
    while bytes >= unit * base {
        let Some(next) = letters.next() else { break };
        (letter, unit) = (next, unit * base);
    }
    let ending = if binary { "iB" } else { "B" };
    Ok(format!("{:.1} {letter}{ending}", bytes / unit).into())
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

pub fn word_count(value: &Value) -> Result<Value> {
    let text = text_of(value)?;
    let other = |c: char| !(c.is_alphabetic() || is_numeric(c) || c == '_');
    Ok(text
        .split(other)
        .filter(|word| !word.is_empty())
        .count()
        .into())
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
    let lines = crate::strings::split_lines(&text, false);
    let wrapped = lines
        .into_iter()
        .map(|line| wrap(line, width, cuts, hyphens).join(&end));
    let out = wrapped.collect::<Vec<String>>().join(&end);
    check_size(&out)?;
    Ok(out.into())
}

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
        ValueKind::Map => crate::objects::pairs_of(value)?,
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
    for (key, value) in crate::objects::pairs_of(value)? {
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

pub fn indent(value: &Value, args: &[Value]) -> Result<Value> {
    let [width, first, blank] = bind(["width", "first", "blank"], args)?;
    let margin = match width {
        Some(width) if width.as_str().is_some() => text_of(&width)?,
        width => " ".repeat(size(width, 4)?),
    };
    let (first, blank) = (flag(first, false), flag(blank, false));
    let text = text_of(value)? + "\n";
    let lines = crate::strings::split_lines(&text, false);
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

pub fn default(value: &Value, args: &[Value]) -> Result<Value> {
    let [default, boolean] = bind(["default_value", "boolean"], args)?;
    let takes = value.is_undefined() || (flag(boolean, false) && !value.is_true());
    Ok(if takes {
        default.unwrap_or(Value::from(""))
    } else {
        value.clone()
    })
}

pub fn replace(value: &Value, args: &[Value]) -> Result<Value> {
    let [old, new, count] = bind(["old", "new", "count"], args)?;
    let old = text_of(&required("old", old)?)?;
    let new = text_of(&required("new", new)?)?;
    let count = some(count).unwrap_or(Value::from(-1));
    crate::strings::replace(&text_of(value)?, &[old.into(), new.into(), count])
}
