//! What Jinja inherits from Python, and transformers' own functions.

mod arithmetic;
mod filters;
mod functions;
mod jinja_tests;
mod json;
mod operators;
mod time;

use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Output, State, Value};

use crate::sequences::{dict_method, list_method};
use crate::strings;
use crate::style::{error, text_of, Result};
pub use time::strftime;

/// `env` with Python's ways where Jinja has them and minijinja its own.
pub fn install(env: &mut Environment) {
    env.set_formatter(|out: &mut Output, _: &State, value: &Value| {
        Ok(out.write_str(&text_of(value)?)?)
    });
    env.set_unknown_method_callback(call_method);
    filters::add_filters(env);
    jinja_tests::add_tests(env);
    functions::add_functions(env);
    operators::add_operators(env);
}

fn call_method(_: &State, value: &Value, method: &str, args: &[Value]) -> Result<Value> {
    let found = match value.kind() {
        ValueKind::String => strings::call(value.as_str().unwrap_or(""), method, args)?,
        ValueKind::Map => dict_method(value, method, args)?,
        ValueKind::Seq | ValueKind::Iterable => list_method(value, method, args)?,
        ValueKind::Bytes if method == "decode" => {
            let text = String::from_utf8(value.as_bytes().unwrap_or(&[]).to_vec());
            Some(text.map_err(|e| error(e.to_string()))?.into())
        }
        _ => None,
    };
    found.ok_or_else(|| Error::from(ErrorKind::UnknownMethod))
}
