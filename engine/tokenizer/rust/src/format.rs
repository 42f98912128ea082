//! Python's two ways to fill values into a text: '%s' % x and '{}'.format(x).

use minijinja::value::{from_args, Kwargs, ValueKind};
use minijinja::Value;

use crate::args::{integer, size};
use crate::objects::is_plain_tuple;
use crate::spec::{take_number, Spec};
use crate::style::{ascii, check_size, error, repr, text_of, Result};

/// The values that the marks of a text take one after the other.
struct Given {
    values: Vec<Value>,
    map: Option<Value>,
    next: usize,
}

impl Given {
    fn take(&mut self) -> Result<Value> {
        self.next += 1;
        let taken = self.values.get(self.next - 1).cloned();
        taken.ok_or_else(|| error("not enough arguments for format string"))
    }
}

/// text % values
pub fn percent(text: &str, values: &Value) -> Result<String> {
    let is_map = values.kind() == ValueKind::Map;
    let mut given = Given {
        values: match is_plain_tuple(values) {
            true => values.try_iter()?.collect(),
            false => vec![values.clone()],
        },
        map: is_map.then(|| values.clone()),
        next: 0,
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        conversion(&mut rest, &mut given, &mut out)?;
        check_size(&out)?;
    }
    out.push_str(rest);
    let is_list = values.kind() == ValueKind::Seq && !is_plain_tuple(values);
    if given.next < given.values.len() && !is_map && !is_list {
        return Err(error(
            "not all arguments converted during string formatting",
        ));
    }
    Ok(out)
}

/// A width or a precision.
fn count(rest: &mut &str, given: &mut Given) -> Result<Option<i64>> {
    if let Some(after) = rest.strip_prefix('*') {
        *rest = after;
        let value = given.take()?;
        let count = integer(&value)?;
        size(Some(Value::from(count.saturating_abs())), 0)?;
        return Ok(Some(count));
    }
    Ok(take_number(rest)?.map(|count| count as i64))
}

fn conversion(rest: &mut &str, given: &mut Given, out: &mut String) -> Result<()> {
    if let Some(after) = rest.strip_prefix('%') {
        *rest = after;
        out.push('%');
        return Ok(());
    }
    let mut keyed = None;
    if let Some(after) = rest.strip_prefix('(') {
        let end = after
            .find(')')
            .ok_or_else(|| error("incomplete format key"))?;
        let map = given
            .map
            .as_ref()
            .ok_or_else(|| error("format requires a mapping"))?;
        let value = map.get_item(&Value::from(&after[..end]))?;
        if value.is_undefined() {
            return Err(error(format!("no key '{}'", &after[..end])));
        }
        keyed = Some(value);
        *rest = &after[end + 1..];
    }
    let mut spec = Spec {
        align: Some('>'),
        ..Spec::default()
    };
    while let Some(flag) = rest.chars().next().filter(|c| "-+ #0".contains(*c)) {
        match flag {
            '-' => spec.align = Some('<'),
            '#' => spec.alternate = true,
            '0' => spec.zero = true,
            '+' => spec.sign = Some('+'),
            _ => spec.sign = spec.sign.or(Some(' ')),
        }
        *rest = &rest[1..];
    }
    if let Some(width) = count(rest, given)? {
        spec.width = width.unsigned_abs() as usize;
        if width < 0 {
            spec.align = Some('<');
        }
    }
    if let Some(after) = rest.strip_prefix('.') {
        *rest = after;
        spec.precision = Some(count(rest, given)?.unwrap_or(0).max(0) as usize);
    }
    *rest = rest.trim_start_matches(['l', 'L', 'h']);
    let kind = rest
        .chars()
        .next()
        .ok_or_else(|| error("incomplete format"))?;
    *rest = &rest[kind.len_utf8()..];
    let value = match keyed {
        Some(value) => value,
        None => given.take()?,
    };
    out.push_str(&convert(kind, spec, &value)?);
    Ok(())
}

fn convert(kind: char, mut spec: Spec, value: &Value) -> Result<String> {
    let as_text = |spec: Spec, text: String| {
        Spec {
            zero: false,
            sign: None,
            kind: None,
            ..spec
        }
        .format(&Value::from(text))
    };
    let left = spec.align == Some('<');
    match kind {
        '%' => Ok("%".to_string()),
        's' => as_text(spec, text_of(value)?),
        'r' => as_text(spec, repr(value)?),
        'a' => as_text(spec, ascii(value)?),
        'c' if value.as_str().is_some() => match text_of(value)? {
            text if text.chars().count() == 1 => as_text(spec, text),
            _ => Err(error("%c requires int or char")),
        },
        'c' | 'd' | 'i' | 'u' | 'o' | 'x' | 'X' => {
            let is_number = value.is_number() || value.kind() == ValueKind::Bool;
            let whole = value.is_integer() || value.kind() == ValueKind::Bool;
            if !is_number || (!whole && matches!(kind, 'c' | 'o' | 'x' | 'X')) {
                return Err(error(format!("%{kind} takes no {}", value.kind())));
            }
            let number = match whole {
                true => value.clone(),
                false => Value::from(f64::try_from(value.clone())?.trunc() as i128),
            };
            spec.kind = Some(if matches!(kind, 'i' | 'u') { 'd' } else { kind });
            spec.zero &= !left;
            spec.align = if spec.zero { None } else { spec.align };
            // A precision is the fewest digits.
            if let Some(least) = spec.precision.take() {
                let digits = Spec {
                    width: least,
                    zero: true,
                    ..Spec::parse("d")?
                };
                if spec.kind == Some('d') && integer(&number)? >= 0 {
                    return as_text(spec, digits.format(&number)?);
                }
            }
            spec.format(&if whole && !number.is_integer() {
                Value::from(integer(&number)?)
            } else {
                number
            })
        }
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
            let number = match value.kind() {
                ValueKind::Bool => integer(value)? as f64,
                ValueKind::Number => f64::try_from(value.clone())?,
                other => return Err(error(format!("%{kind} takes no {other}"))),
            };
            spec.kind = Some(kind);
            spec.zero &= !left;
            spec.align = if spec.zero { None } else { spec.align };
            spec.number(number)
        }
        _ => Err(error(format!("unsupported format character '{kind}'"))),
    }
}

/// The fields of a text for str.format().
struct Fields<'a> {
    given: &'a [Value],
    named: &'a dyn Fn(&str) -> Result<Value>,
    next: Option<usize>, // None: fields have numbers
}

pub fn braces(text: &str, args: &[Value]) -> Result<String> {
    let (given, named): (&[Value], Kwargs) = from_args(args)?;
    let get = |name: &str| match named.has(name) {
        true => named.get::<Value>(name),
        false => Err(error(format!("no argument '{name}'"))),
    };
    let mut fields = Fields {
        given,
        named: &get,
        next: Some(0),
    };
    fields.fill(text, 2)
}

pub fn braces_of_map(text: &str, map: &Value) -> Result<String> {
    let get = |name: &str| match map.get_item(&Value::from(name))? {
        value if value.is_undefined() => Err(error(format!("no key '{name}'"))),
        value => Ok(value),
    };
    Fields {
        given: &[],
        named: &get,
        next: Some(0),
    }
    .fill(text, 2)
}

impl Fields<'_> {
    fn fill(&mut self, text: &str, depth: usize) -> Result<String> {
        if depth == 0 {
            return Err(error("Max string recursion exceeded"));
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let brace = &rest[at..at + 1];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                out.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(error("Single '}' encountered in format string"));
            }
            let end =
                end_of_field(rest).ok_or_else(|| error("expected '}' before end of string"))?;
            out.push_str(&self.field(&rest[..end], depth)?);
            check_size(&out)?;
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn field(&mut self, field: &str, depth: usize) -> Result<String> {
        let (name, spec) = field.split_once(':').unwrap_or((field, ""));
        let (name, conversion) = match name.split_once('!') {
            Some((name, conversion)) => (name, Some(conversion)),
            None => (name, None),
        };
        let value = self.value(name)?;
        let value = match conversion {
            None => value,
            Some("s") => Value::from(text_of(&value)?),
            Some("r") => Value::from(repr(&value)?),
            Some("a") => Value::from(ascii(&value)?),
            Some(_) => return Err(error("Unknown conversion specifier")),
        };
        let spec = self
            .fill(spec, depth - 1)
            .or_else(|e| match spec.contains(['{', '}']) {
                true => Err(e),
                false => Ok(spec.to_string()),
            })?;
        Spec::parse(&spec)?.format(&value)
    }

    fn value(&mut self, path: &str) -> Result<Value> {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (name, mut rest) = path.split_at(end);
        let at = match name.parse::<usize>() {
            Ok(at) if matches!(self.next, None | Some(0)) => {
                self.next = None;
                Some(at)
            }
            Ok(_) => return Err(error("cannot switch from automatic field numbering")),
            Err(_) if name.is_empty() => {
                let at = self
                    .next
                    .ok_or_else(|| error("cannot switch to automatic field numbering"))?;
                self.next = Some(at + 1);
                Some(at)
            }
            Err(_) => None,
        };
        let mut value = match at {
            Some(at) => self
                .given
                .get(at)
                .cloned()
                .ok_or_else(|| error("no argument for a field"))?,
            None => (self.named)(name)?,
        };
        while !rest.is_empty() {
            let key;
            if let Some(after) = rest.strip_prefix('[') {
                let end = after
                    .find(']')
                    .ok_or_else(|| error("Missing ']' in format string"))?;
                key = match after[..end].parse::<usize>() {
                    Ok(at) => Value::from(at),
                    Err(_) => Value::from(&after[..end]),
                };
                rest = &after[end + 1..];
            } else {
                let after = rest.strip_prefix('.').unwrap_or(rest);
                let end = after.find(['.', '[']).unwrap_or(after.len());
                key = Value::from(&after[..end]);
                rest = &after[end..];
            }
            value = value.get_item(&key)?;
        }
        Ok(value)
    }
}

/// Where the brace is that closes a field.
fn end_of_field(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}
