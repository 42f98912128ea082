//! Python's types that minijinja has not.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering as Sync};
use std::sync::Arc;

use minijinja::value::{from_args, DynObject, Enumerator, Object, ObjectRepr};
use minijinja::{Error, ErrorKind, State, Value};

use crate::style::{error, repr, Result};

/// A tuple, or what is written otherwise and read like one.
#[derive(Debug)]
pub struct Tuple {
    pub items: Vec<Value>,
    pub kind: TupleKind,
}

#[derive(Debug, PartialEq, Clone, Copy)]
pub enum TupleKind {
    Plain,
    Group, // of groupby: has the names grouper and list
    Keys,
    Values,
    Items,
}

impl Object for Tuple {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let at = match key.as_str() {
            Some("grouper") if self.kind == TupleKind::Group => 0,
            Some("list") if self.kind == TupleKind::Group => 1,
            _ => key.as_usize()?,
        };
        self.items.get(at).cloned()
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.items.len())
    }
    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        let other = other.downcast_ref::<Tuple>()?;
        Some(self.items.cmp(&other.items))
    }
}

pub fn tuple(items: Vec<Value>) -> Value {
    tuple_of(items, TupleKind::Plain)
}

pub fn tuple_of(items: Vec<Value>, kind: TupleKind) -> Value {
    Value::from_object(Tuple { items, kind })
}

pub fn as_tuple(value: &Value) -> Option<&Tuple> {
    value.downcast_object_ref::<Tuple>()
}

pub fn is_plain_tuple(value: &Value) -> bool {
    as_tuple(value).is_some_and(|t| matches!(t.kind, TupleKind::Plain | TupleKind::Group))
}

/// A method that is not called: obj.items
#[derive(Debug)]
pub struct Method {
    pub owner: Value,
    pub name: String,
}

impl Object for Method {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
    fn is_true(self: &Arc<Self>) -> bool {
        true
    }
    fn call(self: &Arc<Self>, state: &State<'_, '_>, args: &[Value]) -> Result<Value> {
        self.owner.call_method(state, &self.name, args)
    }
}

/// Jinja's cycler.
#[derive(Debug)]
pub struct Cycler(pub Vec<Value>, pub AtomicUsize);

impl Object for Cycler {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let at = self.1.load(Sync::Relaxed) % self.0.len();
        (key.as_str() == Some("current")).then(|| self.0[at].clone())
    }
    fn call_method(
        self: &Arc<Self>,
        _: &State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value> {
        let () = from_args(args)?;
        match method {
            "next" => Ok(self.0[self.1.fetch_add(1, Sync::Relaxed) % self.0.len()].clone()),
            "reset" => {
                self.1.store(0, Sync::Relaxed);
                Ok(Value::from(()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}

/// Jinja's joiner: nothing the first time, later the separator.
#[derive(Debug)]
pub struct Joiner(pub String, pub AtomicUsize);

impl Object for Joiner {
    fn call(self: &Arc<Self>, _: &State<'_, '_>, args: &[Value]) -> Result<Value> {
        let () = from_args(args)?;
        let first = self.1.fetch_add(1, Sync::Relaxed) == 0;
        Ok(Value::from(if first { "" } else { self.0.as_str() }))
    }
}

/// The keys of a map, in their order.
pub fn keys_of(map: &Value) -> Result<Vec<Value>> {
    Ok(map.try_iter()?.collect())
}

pub fn pairs_of(map: &Value) -> Result<Vec<(Value, Value)>> {
    let of = |key: Value| map.get_item(&key).map(|value| (key, value));
    keys_of(map)?.into_iter().map(of).collect()
}

/// A number as Python compares it: True is 1.
fn number(value: &Value) -> Option<Value> {
    match bool::try_from(value.clone()) {
        Ok(flag) => Some(Value::from(i64::from(flag))),
        Err(_) => value.is_number().then(|| value.clone()),
    }
}

fn is_list(value: &Value) -> bool {
    use minijinja::value::ValueKind::*;
    matches!(value.kind(), Seq | Iterable)
}

pub fn equal(a: &Value, b: &Value) -> bool {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) if is_list(a) && is_list(b) => {
            is_plain_tuple(a) == is_plain_tuple(b) && a == b
        }
        (None, None) => a == b,
        _ => false,
    }
}

/// a < b and the like; not of types that Python does not compare.
pub fn compare(a: &Value, b: &Value) -> Result<Ordering> {
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return Ok(a.cmp(&b));
    }
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return Ok(a.cmp(b));
    }
    if is_list(a) && is_list(b) && is_plain_tuple(a) == is_plain_tuple(b) {
        let (mut left, mut right) = (a.try_iter()?, b.try_iter()?);
        loop {
            return Ok(match (left.next(), right.next()) {
                (Some(a), Some(b)) if equal(&a, &b) => continue,
                (Some(a), Some(b)) => compare(&a, &b)?,
                (a, b) => a.is_some().cmp(&b.is_some()),
            });
        }
    }
    Err(error(format!(
        "{} and {} are not compared",
        repr(a)?,
        repr(b)?
    )))
}
