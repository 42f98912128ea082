//! Jinja's tests, by name.

use minijinja::value::{ObjectRepr, ValueKind};
use minijinja::{Environment, Error, Value};

use super::functions::Missing;
use crate::characters::{is_lower_text, is_upper_text};
use crate::style::text_of;

pub fn add_tests(env: &mut Environment) {
    env.add_test("iterable", |value: &Value| {
        !value.is_none() && value.try_iter().is_ok()
    });
    env.add_test("sequence", |value: &Value| {
        use ValueKind::*;
        let listed = matches!(value.kind(), Seq | Map | String | Undefined);
        listed || (value.kind() == Iterable && value.len().is_some())
    });
    env.add_test("callable", |value: &Value| {
        let object = value.as_object();
        object.is_some_and(|o| o.repr() == ObjectRepr::Plain || o.type_name().contains("Macro"))
    });
    env.add_test("lower", |value: &Value| {
        Ok::<_, Error>(is_lower_text(&text_of(value)?))
    });
    env.add_test("upper", |value: &Value| {
        Ok::<_, Error>(is_upper_text(&text_of(value)?))
    });
    env.add_test("escaped", |value: &Value| value.is_safe());
    env.add_test("float", |value: &Value| {
        value.is_number() && !value.is_integer()
    });
    env.add_test("number", |value: &Value| {
        value.is_number() || value.kind() == ValueKind::Bool
    });
    env.add_test("missing__", |value: &Value| {
        value.downcast_object_ref::<Missing>().is_some()
    });
}
