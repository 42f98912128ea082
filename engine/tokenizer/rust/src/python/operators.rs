//! The operators that the module rewrite makes functions.

use std::cmp::Ordering;

use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, State, Value};

use super::arithmetic::{power, product, quotient, remainder, sum_of};
use super::functions::is_own_object;
use crate::objects::{compare, equal, tuple, Method};
use crate::style::{check_size, error, text_of};

pub fn add_operators(env: &mut Environment) {
    env.add_function("tuple__", |items: Rest<Value>| tuple(items.to_vec()));
    env.add_function("same__", |value: Value| value);
    env.add_function("cat__", |parts: Rest<Value>| {
        let mut out = String::new();
        for part in parts.iter() {
            out.push_str(&text_of(part)?);
            check_size(&out)?;
        }
        Ok::<_, Error>(out)
    });
    env.add_function("mod__", remainder);
    env.add_function("div__", quotient);
    env.add_function("pow__", power);
    env.add_function("mul__", product);
    env.add_function("add__", |parts: Rest<Value>| {
        let (first, rest) = parts.split_first().ok_or_else(|| error("nothing to add"))?;
        rest.iter()
            .try_fold(first.clone(), |sum, part| sum_of(&sum, part))
    });
    env.add_function("eq__", |a: &Value, b: &Value| equal(a, b));
    env.add_function("in__", |state: &State, a: &Value, b: &Value| {
        if b.as_str().is_some() && a.as_str().is_none() && !a.is_undefined() {
            return Err(error(format!("{} is in no string", a.kind())));
        }
        state.perform_test("in", &[a.clone(), b.clone()])
    });
    env.add_function("seq__", |value: Value| match value.is_none() {
        true => Err(error("none is not iterable")),
        false => Ok(value),
    });
    for (name, holds) in [
        ("lt__", Ordering::is_lt as fn(Ordering) -> bool),
        ("le__", Ordering::is_le),
        ("gt__", Ordering::is_gt),
        ("ge__", Ordering::is_ge),
    ] {
        env.add_function(name, move |a: &Value, b: &Value| compare(a, b).map(holds));
    }
    env.add_function("attr__", |value: &Value, name: &str, of_dict: u8| {
        let has = match value.kind() {
            ValueKind::String => of_dict == 0,
            ValueKind::Map => of_dict == 1 && !is_own_object(value),
            _ => false,
        };
        match has {
            true => Ok(Value::from_object(Method {
                owner: value.clone(),
                name: name.to_string(),
            })),
            false => value.get_attr(name),
        }
    });
}
