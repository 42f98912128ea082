//! Jinja's filters of texts and numbers, with Python's arguments and results.

pub mod markup;
pub mod numbers;
pub mod rounding;
pub mod wrapping;

use minijinja::Value;

use crate::args::{bind, flag, required, some, string};
use crate::characters::{is_numeric, is_space};
use crate::strings::{self, strip};
use crate::style::{text_of, Result};

pub fn word_count(value: &Value) -> Result<Value> {
    let text = text_of(value)?;
    let other = |c: char| !(c.is_alphabetic() || is_numeric(c) || c == '_');
    Ok(text
        .split(other)
        .filter(|word| !word.is_empty())
        .count()
        .into())
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
    strings::replace(&text_of(value)?, &[old.into(), new.into(), count])
}

/// Jinja's title: a capital after a space, a hyphen or an opening bracket.
pub fn title(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        match inside {
            true => out.extend(c.to_lowercase()),
            false => out.extend(c.to_uppercase()),
        }
        inside = !(is_space(c) || "-({[<".contains(c));
    }
    out
}

pub fn trim(value: &Value, args: &[Value]) -> Result<Value> {
    let [characters] = bind(["chars"], args)?;
    let characters = some(characters);
    let characters = characters.as_ref().map(string).transpose()?;
    Ok(strip(&text_of(value)?, characters).into())
}
