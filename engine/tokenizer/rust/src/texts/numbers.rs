//! Filters that read numbers: int and float.

use minijinja::value::ValueKind;
use minijinja::Value;

use crate::args::{bind, integer, integer_or};
use crate::characters::is_space;
use crate::style::{error, text_of, Result};

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
