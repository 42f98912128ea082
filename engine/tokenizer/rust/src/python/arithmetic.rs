//! Python's arithmetic, also of texts and lists.

use minijinja::value::ValueKind;
use minijinja::Value;

use crate::args::integer;
use crate::format::percent;
use crate::objects::{is_plain_tuple, tuple};
use crate::sequences;
use crate::style::{check_size, error, Result};
use crate::texts::markup;

/// Bytes or entries, so that none is made in vain that the limit of memory ends.
const MAX_REPEATED: usize = 16 << 20;

fn as_float(value: &Value) -> Option<f64> {
    match value.kind() {
        ValueKind::Bool => integer(value).ok().map(|number| number as f64),
        ValueKind::Number => f64::try_from(value.clone()).ok(),
        _ => None,
    }
}

pub fn quotient(a: &Value, b: &Value) -> Result<Value> {
    match (as_float(a), as_float(b)) {
        (Some(_), Some(0.0)) => Err(error("division by zero")),
        (Some(a), Some(b)) => Ok(Value::from(a / b)),
        _ => Err(error(format!(
            "{} and {} have no quotient",
            a.kind(),
            b.kind()
        ))),
    }
}

/// a % b: of a text its values, of numbers a remainder with the sign of b.
pub fn remainder(a: &Value, b: &Value) -> Result<Value> {
    if let Some(text) = a.as_str() {
        return percent(text, b).map(Value::from);
    }
    if let (Some(a), Some(b)) = (whole(a), whole(b)) {
        let rest = a
            .checked_rem(b)
            .ok_or_else(|| error("integer modulo by zero"))?;
        let rest = if rest != 0 && (rest < 0) != (b < 0) {
            rest + b
        } else {
            rest
        };
        return Ok(i64::try_from(rest).map_or(Value::from(rest), Value::from));
    }
    match (as_float(a), as_float(b)) {
        (Some(_), Some(0.0)) => Err(error("float modulo by zero")),
        (Some(a), Some(b)) => {
            let rest = a % b;
            Ok(if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
                rest + b
            } else {
                rest
            }
            .into())
        }
        _ => Err(error(format!(
            "{} and {} have no remainder",
            a.kind(),
            b.kind()
        ))),
    }
}

/// a + b, also of texts, where one that is marked safe escapes the other, and of
/// lists.
pub fn sum_of(a: &Value, b: &Value) -> Result<Value> {
    if let (Some(left), Some(right)) = (a.as_str(), b.as_str()) {
        if !a.is_safe() && !b.is_safe() {
            let text = [left, right].concat();
            check_size(&text)?;
            return Ok(text.into());
        }
        let part = |value: &Value, text: &str| match value.is_safe() {
            true => text.to_string(),
            false => markup::escaped(text),
        };
        return Ok(Value::from_safe_string(part(a, left) + &part(b, right)));
    }
    sequences::add(a, b)
}

/// a * b, also of a text or a list and a number.
pub fn product(a: &Value, b: &Value) -> Result<Value> {
    let (times, repeated) =
        match a.as_str().is_some() || matches!(a.kind(), ValueKind::Seq | ValueKind::Iterable) {
            true => (b, a),
            false => (a, b),
        };
    if let Some(text) = repeated.as_str() {
        let times = integer(times)?.max(0) as usize;
        if text.len().saturating_mul(times) > MAX_REPEATED {
            return Err(error("repeated string is too large"));
        }
        return Ok(text.repeat(times).into());
    }
    if matches!(repeated.kind(), ValueKind::Seq | ValueKind::Iterable) {
        let items: Vec<Value> = repeated.try_iter()?.collect();
        let times = integer(times)?.max(0) as usize;
        if items.len().saturating_mul(times) > MAX_REPEATED {
            return Err(error("repeated list is too large"));
        }
        let count = items.len() * times;
        let all: Vec<Value> = items.into_iter().cycle().take(count).collect();
        return Ok(if is_plain_tuple(repeated) {
            tuple(all)
        } else {
            all.into()
        });
    }
    if let (Some(a), Some(b)) = (whole(a), whole(b)) {
        let product = a
            .checked_mul(b)
            .ok_or_else(|| error(format!("{a} * {b} is too large")))?;
        return Ok(i64::try_from(product).map_or(Value::from(product), Value::from));
    }
    match (as_float(a), as_float(b)) {
        (Some(a), Some(b)) => Ok(Value::from(a * b)),
        _ => Err(error(format!(
            "{} and {} have no product",
            a.kind(),
            b.kind()
        ))),
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value.is_integer() {
        true => i128::try_from(value.clone()).ok(),
        false => integer(value).ok().map(i128::from),
    }
}

pub fn power(a: &Value, b: &Value) -> Result<Value> {
    if let (Some(a), Some(b)) = (whole(a), whole(b).and_then(|b| u32::try_from(b).ok())) {
        let number = a
            .checked_pow(b)
            .ok_or_else(|| error(format!("{a} ** {b} is too large")))?;
        return Ok(i64::try_from(number).map_or(Value::from(number), Value::from));
    }
    match (as_float(a), as_float(b)) {
        (Some(0.0), Some(b)) if b < 0.0 => Err(error("0.0 cannot be raised to a negative power")),
        (Some(a), Some(b)) => Ok(a.powf(b).into()),
        _ => Err(error(format!(
            "{} and {} have no power",
            a.kind(),
            b.kind()
        ))),
    }
}
