//! Arguments of functions, as Python binds them: by position or by name.

use minijinja::value::{from_args, Kwargs};
use minijinja::{Error, ErrorKind, Value};

use crate::style::{error, text_of, Result};

/// The values of the parameters `names`; None where nothing is given.
pub fn bind<const N: usize>(names: [&str; N], args: &[Value]) -> Result<[Option<Value>; N]> {
    let (given, named): (&[Value], Kwargs) = from_args(args)?;
    if given.len() > N {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let mut values = [const { None }; N];
    for (at, name) in names.iter().enumerate() {
        values[at] = match given.get(at) {
            Some(value) if named.has(name) => {
                return Err(error(format!("argument '{name}' is given twice: {value}")));
            }
            Some(value) => Some(value.clone()),
            None if named.has(name) => Some(named.get::<Value>(name)?),
            None => None,
        };
    }
    named.assert_all_used()?;
    Ok(values)
}

/// A parameter without a default value.
pub fn required(name: &str, value: Option<Value>) -> Result<Value> {
    value.ok_or_else(|| Error::new(ErrorKind::MissingArgument, format!("'{name}' is required")))
}

/// Absent, if it is none.
pub fn some(value: Option<Value>) -> Option<Value> {
    value.filter(|value| !value.is_none())
}

pub fn flag(value: Option<Value>, default: bool) -> bool {
    value.map_or(default, |value| value.is_true())
}

/// An integer, or a Boolean, which is one in Python.
pub fn integer(value: &Value) -> Result<i64> {
    if let Ok(number) = bool::try_from(value.clone()) {
        return Ok(i64::from(number));
    }
    match value.as_i64() {
        Some(number) if value.is_integer() => Ok(number),
        _ => Err(error(format!("{} is no integer", value.kind()))),
    }
}

pub fn integer_or(value: Option<Value>, default: i64) -> Result<i64> {
    value.map_or(Ok(default), |value| integer(&value))
}

/// A number of characters or entries that a template may ask for.
pub fn size(value: Option<Value>, default: usize) -> Result<usize> {
    const MAX_SIZE: i64 = 1 << 20;
    let Some(value) = value else {
        return Ok(default);
    };
    let size = integer(&value)?;
    if size > MAX_SIZE {
        return Err(error(format!("a size is {size}, limit is {MAX_SIZE}")));
    }
    Ok(size.max(0) as usize)
}

pub fn string(value: &Value) -> Result<&str> {
    let wrong = || error(format!("{} is no string", value.kind()));
    value.as_str().ok_or_else(wrong)
}

pub fn text_or(value: Option<Value>, default: &str) -> Result<String> {
    value.map_or(Ok(default.to_string()), |value| text_of(&value))
}
