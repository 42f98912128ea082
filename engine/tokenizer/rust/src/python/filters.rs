//! Jinja's filters, by name.

use std::cmp::Ordering;

use minijinja::value::{from_args, Kwargs, Rest, ValueKind};
use minijinja::{Environment, State, Value};

use super::functions::{dict, is_own_object};
use super::json::{pretty, to_json};
use crate::characters::capitalize;
use crate::format::percent;
use crate::objects::tuple;
use crate::sequences;
use crate::style::{error, text_of, Result};
use crate::texts::{self, markup, numbers, rounding, wrapping};

type Filter = fn(&Value, &[Value]) -> Result<Value>;

/// Jinja's filters that take the value and arguments by position or name.
const FILTERS: &[(&str, Filter)] = &[
    ("abs", |value, args| {
        none_given(args, || rounding::abs(value))
    }),
    ("batch", sequences::batch),
    ("capitalize", |value, args| of_text(value, args, capitalize)),
    ("center", wrapping::center),
    ("count", |value, args| none_given(args, || length(value))),
    ("d", texts::default),
    ("default", texts::default),
    ("dictsort", sequences::dict_sort),
    ("e", |value, args| {
        none_given(args, || markup::escape(value, false))
    }),
    ("escape", |value, args| {
        none_given(args, || markup::escape(value, false))
    }),
    ("filesizeformat", rounding::file_size),
    ("first", |value, args| {
        none_given(args, || sequences::ends(value, false))
    }),
    ("float", numbers::float),
    ("forceescape", |value, args| {
        none_given(args, || markup::escape(value, true))
    }),
    ("format", format),
    ("groupby", sequences::group_by),
    ("indent", wrapping::indent),
    ("int", numbers::int),
    ("items", |value, args| {
        none_given(args, || sequences::items(value))
    }),
    ("join", sequences::join),
    ("last", |value, args| {
        none_given(args, || sequences::ends(value, true))
    }),
    ("length", |value, args| none_given(args, || length(value))),
    ("lower", |value, args| {
        of_text(value, args, str::to_lowercase)
    }),
    ("max", |value, args| {
        sequences::extreme(value, args, Ordering::Greater)
    }),
    ("min", |value, args| {
        sequences::extreme(value, args, Ordering::Less)
    }),
    ("pprint", |value, args| none_given(args, || pretty(value))),
    ("random", |value, args| {
        none_given(args, || sequences::random(value))
    }),
    ("replace", texts::replace),
    ("reverse", |value, args| {
        none_given(args, || sequences::reverse(value))
    }),
    ("round", rounding::round),
    ("slice", sequences::slice),
    ("sort", sequences::sort),
    ("string", |value, args| of_text(value, args, str::to_string)),
    ("striptags", |value, args| {
        none_given(args, || markup::strip_tags(value))
    }),
    ("sum", sequences::sum),
    ("title", |value, args| of_text(value, args, texts::title)),
    ("tojson", to_json),
    ("trim", texts::trim),
    ("truncate", wrapping::truncate),
    ("unique", sequences::unique),
    ("upper", |value, args| {
        of_text(value, args, str::to_uppercase)
    }),
    ("urlencode", |value, args| {
        none_given(args, || markup::url_encode(value))
    }),
    ("wordcount", |value, args| {
        none_given(args, || texts::word_count(value))
    }),
    ("wordwrap", wrapping::word_wrap),
    ("xmlattr", markup::xml_attributes),
];

pub fn add_filters(env: &mut Environment) {
    for &(name, filter) in FILTERS {
        env.add_filter(name, move |value: &Value, args: Rest<Value>| {
            filter(value, &args)
        });
    }
    env.add_filter("map", |state: &State, value: &Value, args: Rest<Value>| {
        sequences::map(state, value, &args)
    });
    // An attribute in Python's sense, which keys of a dict are not.
    env.add_filter("attr", |value: &Value, name: &str| match value.kind() {
        ValueKind::Map if !is_own_object(value) => Ok(Value::UNDEFINED),
        _ => value.get_attr(name),
    });
}

fn none_given(args: &[Value], filter: impl Fn() -> Result<Value>) -> Result<Value> {
    let () = from_args(args)?;
    filter()
}

fn of_text<T: AsRef<str>>(
    value: &Value,
    args: &[Value],
    change: impl Fn(&str) -> T,
) -> Result<Value> {
    let () = from_args(args)?;
    Ok(Value::from(change(&text_of(value)?).as_ref()))
}

fn format(value: &Value, args: &[Value]) -> Result<Value> {
    let (given, named): (&[Value], Kwargs) = from_args(args)?;
    let names: Vec<&str> = named.args().collect();
    let values = match (given.is_empty(), names.is_empty()) {
        (false, false) => return Err(error("can't handle positional and keyword arguments")),
        (true, false) => dict(args)?,
        _ => tuple(given.to_vec()),
    };
    Ok(percent(&text_of(value)?, &values)?.into())
}

/// What is not defined has no elements.
fn length(value: &Value) -> Result<Value> {
    if value.is_undefined() {
        return Ok(Value::from(0));
    }
    let unmeasured = || error(format!("{} has no length", value.kind()));
    value.len().map(Value::from).ok_or_else(unmeasured)
}
