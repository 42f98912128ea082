//! Jinja's functions and the values that templates share.

use std::sync::atomic::AtomicUsize;
use std::sync::Arc;

use minijinja::value::{from_args, Kwargs, Object, ObjectRepr, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value};

use crate::args::{bind, required, text_or};
use crate::objects::{pairs_of, Cycler, Joiner};
use crate::style::{error, Result};

pub fn add_functions(env: &mut Environment) {
    env.add_function("cycler", |items: Rest<Value>| match items.is_empty() {
        true => Err(error("at least one item has to be provided")),
        false => Ok(Value::from_object(Cycler(
            items.to_vec(),
            AtomicUsize::new(0),
        ))),
    });
    env.add_function("joiner", |args: Rest<Value>| {
        let [separator] = bind(["sep"], &args)?;
        let separator = text_or(separator, ", ")?;
        Ok::<_, Error>(Value::from_object(Joiner(separator, AtomicUsize::new(0))))
    });
    env.add_global("dict", Value::from_object(DictType));
    let namespace = env
        .globals()
        .find(|(name, _)| *name == "namespace")
        .map(|(_, f)| f);
    if let Some(new) = namespace {
        env.add_function("namespace", move |state: &State, args: Rest<Value>| {
            let map = dict(&args)?;
            for key in map.try_iter()? {
                if key.as_str().is_some_and(|name| name.starts_with('_')) {
                    return Err(error(format!("a namespace has no attribute '{key}'")));
                }
            }
            new.call(state, &[map])
        });
    }
    env.add_global("missing__", Value::from_object(Missing));
}

/// The value of a macro's argument that is not given.
#[derive(Debug)]
pub struct Missing;
impl Object for Missing {}

/// A namespace, a loop or a module: their attributes are what they say.
pub fn is_own_object(value: &Value) -> bool {
    let name = value.as_object().map_or("", |object| object.type_name());
    ["Namespace", "Loop", "Module", "Kwargs"]
        .iter()
        .any(|own| name.contains(own))
}

/// Python's dict as a function, and its one other use.
#[derive(Debug)]
struct DictType;

impl Object for DictType {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
    fn call(self: &Arc<Self>, _: &State<'_, '_>, args: &[Value]) -> Result<Value> {
        dict(args)
    }
    fn call_method(
        self: &Arc<Self>,
        _: &State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value> {
        if method != "fromkeys" {
            return Err(Error::from(ErrorKind::UnknownMethod));
        }
        let [keys, value] = bind(["iterable", "value"], args)?;
        let value = value.unwrap_or(Value::from(()));
        let keys = required("iterable", keys)?;
        Ok(keys.try_iter()?.map(|key| (key, value.clone())).collect())
    }
}

/// dict(map or pairs, name=value, ...)
pub fn dict(args: &[Value]) -> Result<Value> {
    let (given, named): (&[Value], Kwargs) = from_args(args)?;
    let mut map: Vec<(Value, Value)> = Vec::new();
    match given {
        [] => {}
        [from] if from.kind() == ValueKind::Map => map.extend(pairs_of(from)?),
        [from] => {
            for pair in from.try_iter()? {
                if pair.len() != Some(2) {
                    return Err(error("dict() takes a map or pairs"));
                }
                map.push((pair.get_item_by_index(0)?, pair.get_item_by_index(1)?));
            }
        }
        _ => return Err(error("dict expected at most 1 argument")),
    }
    for name in named.args() {
        map.push((Value::from(name), named.peek(name)?));
    }
    Ok(map.into_iter().collect())
}
