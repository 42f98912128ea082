//! Jinja's filters of lists and maps, with Python's arguments and results.

use std::cmp::Ordering;

use minijinja::value::ValueKind;
use minijinja::{State, Value};

use crate::args::{bind, flag, integer_or, required, size, some, string, text_or};
use crate::objects::{
    compare, equal, is_plain_tuple, keys_of, pairs_of, tuple, tuple_of, TupleKind,
};
use crate::style::{check_size, error, text_of, Result};

/// The attribute of an item by a path, 'a.b.0', as Jinja's make_attrgetter().
fn attribute(item: &Value, path: &Value, default: &Option<Value>) -> Result<Value> {
    let Some(path) = path.as_str() else {
        return item.get_item(path);
    };
    let mut value = item.clone();
    for part in path.split('.') {
        value = match part.parse::<i64>() {
            Ok(at) if part.bytes().all(|b| b.is_ascii_digit()) => {
                value.get_item(&Value::from(at))?
            }
            _ => value.get_item(&Value::from(part))?,
        };
        if let (true, Some(default)) = (value.is_undefined(), default) {
            value = default.clone();
        }
    }
    Ok(value)
}

/// What items are compared by: one attribute, or several ('a,b'), in lower case
/// unless `exact`.
fn key_of(item: &Value, path: &Option<Value>, exact: bool) -> Result<Value> {
    let lower = |value: Value| match value.as_str() {
        Some(text) if !exact => Value::from(text.to_lowercase()),
        _ => value,
    };
    let Some(path) = path else {
        return Ok(lower(item.clone()));
    };
    match path.as_str().filter(|paths| paths.contains(',')) {
        None => Ok(lower(attribute(item, path, &None)?)),
        Some(paths) => {
            let of = |path: &str| attribute(item, &Value::from(path), &None).map(lower);
            Ok(paths
                .split(',')
                .map(of)
                .collect::<Result<Vec<Value>>>()?
                .into())
        }
    }
}

fn sort_by(items: Vec<(Value, Value)>, reverse: bool) -> Result<Vec<(Value, Value)>> {
    let mut failed = None;
    let mut items = items;
    items.sort_by(|a, b| {
        let order = compare(&a.0, &b.0).unwrap_or_else(|e| {
            failed = Some(e);
            Ordering::Equal
        });
        if reverse {
            order.reverse()
        } else {
            order
        }
    });
    failed.map_or(Ok(items), Err)
}

fn keyed(value: &Value, path: &Option<Value>, exact: bool) -> Result<Vec<(Value, Value)>> {
    let of = |item: Value| key_of(&item, path, exact).map(|key| (key, item));
    value.try_iter()?.map(of).collect()
}

fn list(items: impl Iterator<Item = Value>) -> Value {
    items.collect::<Vec<Value>>().into()
}

pub fn sort(value: &Value, args: &[Value]) -> Result<Value> {
    let [reverse, exact, path] = bind(["reverse", "case_sensitive", "attribute"], args)?;
    let items = keyed(value, &some(path), flag(exact, false))?;
    Ok(list(
        sort_by(items, flag(reverse, false))?
            .into_iter()
            .map(|(_, item)| item),
    ))
}

pub fn dict_sort(value: &Value, args: &[Value]) -> Result<Value> {
    let [exact, by, reverse] = bind(["case_sensitive", "by", "reverse"], args)?;
    let by = text_or(by, "key")?;
    if by != "key" && by != "value" {
        return Err(error("You can only sort by either \"key\" or \"value\""));
    }
    let exact = flag(exact, false);
    let mut items = Vec::new();
    for (key, value) in pairs_of(value)? {
        let by = key_of(if by == "key" { &key } else { &value }, &None, exact)?;
        items.push((by, tuple(vec![key, value])));
    }
    Ok(list(
        sort_by(items, flag(reverse, false))?
            .into_iter()
            .map(|(_, item)| item),
    ))
}

pub fn extreme(value: &Value, args: &[Value], wanted: Ordering) -> Result<Value> {
    let [exact, path] = bind(["case_sensitive", "attribute"], args)?;
    let items = keyed(value, &some(path), flag(exact, false))?;
    let mut best: Option<(Value, Value)> = None;
    for (key, item) in items {
        let better = match &best {
            Some((other, _)) => compare(&key, other)? == wanted,
            None => true,
        };
        if better {
            best = Some((key, item));
        }
    }
    Ok(best.map_or(Value::UNDEFINED, |(_, item)| item))
}

pub fn unique(value: &Value, args: &[Value]) -> Result<Value> {
    let [exact, path] = bind(["case_sensitive", "attribute"], args)?;
    let mut seen: Vec<Value> = Vec::new();
    let mut kept = Vec::new();
    for (key, item) in keyed(value, &some(path), flag(exact, false))? {
        if !seen.iter().any(|other| equal(other, &key)) {
            seen.push(key);
            kept.push(item);
        }
    }
    Ok(kept.into())
}

pub fn group_by(value: &Value, args: &[Value]) -> Result<Value> {
    let [path, default, exact] = bind(["attribute", "default", "case_sensitive"], args)?;
    let (path, exact) = (required("attribute", path)?, flag(exact, false));
    let mut items = Vec::new();
    for item in value.try_iter()? {
        let key = attribute(&item, &path, &default)?;
        items.push((key_of(&key, &None, exact)?, tuple(vec![key, item])));
    }
    let mut groups: Vec<(Value, Value, Vec<Value>)> = Vec::new();
    for (key, pair) in sort_by(items, false)? {
        let (shown, item) = (pair.get_item_by_index(0)?, pair.get_item_by_index(1)?);
        match groups.last_mut().filter(|(last, _, _)| equal(last, &key)) {
            Some((_, _, items)) => items.push(item),
            None => groups.push((key, shown, vec![item])),
        }
    }
    let group = |(_, shown, items): (Value, Value, Vec<Value>)| {
        tuple_of(vec![shown, items.into()], TupleKind::Group)
    };
    Ok(list(groups.into_iter().map(group)))
}

pub fn batch(value: &Value, args: &[Value]) -> Result<Value> {
    let [count, fill] = bind(["linecount", "fill_with"], args)?;
    let count = size(Some(required("linecount", count)?), 0)?;
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for item in value.try_iter()? {
        match rows.last_mut().filter(|row| row.len() < count.max(1)) {
            Some(row) => row.push(item),
            None => rows.push(vec![item]),
        }
    }
    if let (Some(last), Some(fill)) = (rows.last_mut(), some(fill)) {
        last.resize(count.max(last.len()), fill);
    }
    Ok(list(rows.into_iter().map(Value::from)))
}

pub fn slice(value: &Value, args: &[Value]) -> Result<Value> {
    let [count, fill] = bind(["slices", "fill_with"], args)?;
    let count = size(Some(required("slices", count)?), 0)?;
    let items: Vec<Value> = value.try_iter()?.collect();
    if count == 0 {
        return Err(error("slice of 0 columns"));
    }
    let (each, more) = (items.len() / count, items.len() % count);
    let fill = some(fill);
    let (mut rows, mut at) = (Vec::new(), 0);
    for column in 0..count {
        let size = each + usize::from(column < more);
        let mut row = items[at..at + size].to_vec();
        at += size;
        if let (Some(fill), true) = (&fill, column >= more) {
            row.push(fill.clone());
        }
        rows.push(Value::from(row));
    }
    Ok(rows.into())
}

pub fn join(value: &Value, args: &[Value]) -> Result<Value> {
    let [separator, path] = bind(["d", "attribute"], args)?;
    let (separator, path) = (text_or(separator, "")?, some(path));
    let mut out = String::new();
    for (at, item) in value.try_iter()?.enumerate() {
        if at > 0 {
            out.push_str(&separator);
        }
        let item = match &path {
            Some(path) => attribute(&item, path, &None)?,
            None => item,
        };
        out.push_str(&text_of(&item)?);
        check_size(&out)?;
    }
    Ok(out.into())
}

pub fn sum(value: &Value, args: &[Value]) -> Result<Value> {
    let [path, start] = bind(["attribute", "start"], args)?;
    let path = some(path);
    let mut total = start.unwrap_or(Value::from(0));
    for item in value.try_iter()? {
        let item = match &path {
            Some(path) => attribute(&item, path, &None)?,
            None => item,
        };
        total = add(&total, &item)?;
    }
    Ok(total)
}

/// a + b of numbers, lists or tuples.
pub fn add(a: &Value, b: &Value) -> Result<Value> {
    let whole = |value: &Value| match bool::try_from(value.clone()) {
        Ok(flag) => Some(i128::from(flag)),
        Err(_) if value.is_integer() => i128::try_from(value.clone()).ok(),
        Err(_) => None,
    };
    if let (Some(a), Some(b)) = (whole(a), whole(b)) {
        let sum = a
            .checked_add(b)
            .ok_or_else(|| error("a sum is too large"))?;
        return Ok(i64::try_from(sum).map_or(Value::from(sum), Value::from));
    }
    let number = |value: &Value| match whole(value) {
        Some(whole) => Some(whole as f64),
        None if value.is_number() => f64::try_from(value.clone()).ok(),
        None => None,
    };
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return Ok(Value::from(a + b));
    }
    let is_list = |value: &Value| matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    if is_list(a) && is_list(b) && is_plain_tuple(a) == is_plain_tuple(b) {
        let all: Vec<Value> = a.try_iter()?.chain(b.try_iter()?).collect();
        return Ok(if is_plain_tuple(a) {
            tuple(all)
        } else {
            all.into()
        });
    }
    Err(error(format!("{} and {} have no sum", a.kind(), b.kind())))
}

pub fn items(value: &Value) -> Result<Value> {
    match value.kind() {
        ValueKind::Undefined => Ok(Vec::<Value>::new().into()),
        ValueKind::Map => Ok(list(
            pairs_of(value)?.into_iter().map(|(k, v)| tuple(vec![k, v])),
        )),
        kind => Err(error(format!(
            "Can only get item pairs from a mapping, not {kind}"
        ))),
    }
}

pub fn ends(value: &Value, last: bool) -> Result<Value> {
    if let Some(text) = value.as_str() {
        let found = if last {
            text.chars().next_back()
        } else {
            text.chars().next()
        };
        return Ok(found.map_or(Value::UNDEFINED, Value::from));
    }
    let mut all = value.try_iter()?;
    Ok(if last { all.last() } else { all.next() }.unwrap_or(Value::UNDEFINED))
}

pub fn reverse(value: &Value) -> Result<Value> {
    if let Some(text) = value.as_str() {
        return Ok(text.chars().rev().collect::<String>().into());
    }
    let mut all: Vec<Value> = value.try_iter()?.collect();
    all.reverse();
    Ok(all.into())
}

/// The filter map, of which minijinja knows no default.
pub fn map(state: &State, value: &Value, args: &[Value]) -> Result<Value> {
    if args.len() == 1 && args[0].is_kwargs() {
        let [path, default] = bind(["attribute", "default"], args)?;
        let path = required("attribute", path)?;
        let of = |item: Value| attribute(&item, &path, &default);
        return Ok(value
            .try_iter()?
            .map(of)
            .collect::<Result<Vec<Value>>>()?
            .into());
    }
    let Some((name, rest)) = args.split_first() else {
        return Err(error("map requires a filter argument"));
    };
    let name = string(name)?;
    let of = |item: Value| {
        let all: Vec<Value> = std::iter::once(item).chain(rest.iter().cloned()).collect();
        state.apply_filter(name, &all)
    };
    if value.is_undefined() {
        return Ok(Vec::<Value>::new().into());
    }
    Ok(value
        .try_iter()?
        .map(of)
        .collect::<Result<Vec<Value>>>()?
        .into())
}

pub fn random(value: &Value) -> Result<Value> {
    let all: Vec<Value> = value.try_iter()?.collect();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let at = now.map_or(0, |time| time.subsec_nanos() as usize / 64);
    Ok(all
        .get(at % all.len().max(1))
        .cloned()
        .unwrap_or(Value::UNDEFINED))
}

/// Methods of lists and tuples that change nothing.
pub fn list_method(value: &Value, method: &str, args: &[Value]) -> Result<Option<Value>> {
    match method {
        "index" => {
            let [wanted, start, end] = bind(["value", "start", "stop"], args)?;
            let wanted = required("value", wanted)?;
            let length = value.len().unwrap_or(0) as i64;
            let place = |at: i64| if at < 0 { (at + length).max(0) } else { at } as usize;
            let (start, end) = (
                place(integer_or(start, 0)?),
                place(integer_or(end, length)?),
            );
            let mut all = value.try_iter()?.enumerate();
            let found = all.find(|(at, item)| (start..end).contains(at) && equal(item, &wanted));
            found.map_or(Err(error("the value is not in list")), |(at, _)| {
                Ok(Some(Value::from(at)))
            })
        }
        "count" => {
            let [wanted] = bind(["value"], args)?;
            let wanted = required("value", wanted)?;
            Ok(Some(
                value
                    .try_iter()?
                    .filter(|item| equal(item, &wanted))
                    .count()
                    .into(),
            ))
        }
        "copy" if !is_plain_tuple(value) => {
            let [] = bind([], args)?;
            Ok(Some(list(value.try_iter()?)))
        }
        _ => Ok(None),
    }
}

/// Methods of dicts that change nothing.
pub fn dict_method(value: &Value, method: &str, args: &[Value]) -> Result<Option<Value>> {
    let view = |items: Vec<Value>, kind| Ok(Some(tuple_of(items, kind)));
    match method {
        "get" => {
            let [key, default] = args_of_get(args)?;
            let found = value.get_item(&required("key", key)?)?;
            let missing = found.is_undefined();
            Ok(Some(if missing {
                default.unwrap_or(Value::from(()))
            } else {
                found
            }))
        }
        "keys" => {
            let [] = bind([], args)?;
            view(keys_of(value)?, TupleKind::Keys)
        }
        "values" => {
            let [] = bind([], args)?;
            view(
                pairs_of(value)?.into_iter().map(|(_, v)| v).collect(),
                TupleKind::Values,
            )
        }
        "items" => {
            let [] = bind([], args)?;
            let pairs = pairs_of(value)?.into_iter().map(|(k, v)| tuple(vec![k, v]));
            view(pairs.collect(), TupleKind::Items)
        }
        "copy" => {
            let [] = bind([], args)?;
            Ok(Some(value.clone()))
        }
        _ => Ok(None),
    }
}

/// dict.get() takes no names.
fn args_of_get(args: &[Value]) -> Result<[Option<Value>; 2]> {
    if args.last().is_some_and(|last| last.is_kwargs()) {
        return Err(error("dict.get() takes no keyword arguments"));
    }
    bind(["key", "default"], args)
}
