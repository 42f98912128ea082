//! Filters that change numbers: round, abs and filesizeformat.

use minijinja::value::ValueKind;
use minijinja::Value;

use crate::args::{bind, flag, integer, integer_or, text_or};
use crate::style::{error, Result};

use super::numbers::float;

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
