//! Makes JSON schemas ready for llguidance, which refuses or mistakes parts of
//! them.

use llguidance::derivre::{RegexAst, RegexBuilder};
use llguidance::regex_to_lark;
use serde_json::{json, Map, Value};
use tokenizers::tokenizer::Result;

use crate::keywords;

/// The formats that llguidance holds. Others are remarks (JSON Schema 2020-12,
/// validation, 7.2.1), and change nothing.
const FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];
/// Members of a schema that are schemas, lists of such, or maps of names to such.
const SCHEMAS: &[&str] = &[
    "items",
    "additionalItems",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const MAPS: &[&str] = &[
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
/// Work of one question about regular expressions.
const MAX_WORK: u64 = 10_000;
/// Schemas that one allOf joins, and schemas in schemas, that are looked at.
const MAX_JOINED: usize = 100;
const MAX_DEPTH: usize = 100;

/// Changes `schema` and the schemas in it to some that allow the same. An error:
/// llguidance would begin texts that it cannot end.
pub fn prepare(schema: &mut Value) -> Result<()> {
    rewrite(schema);
    check(schema, schema, 0)
}

fn rewrite(schema: &mut Value) {
    if keywords::allows_nothing(schema) {
        *schema = Value::Bool(false);
    }
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    let format = fields.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !FORMATS.contains(&format)) {
        fields.remove("format");
    }
    keywords::replace(fields);
    join_properties(fields);
    for (key, value) in fields.iter_mut() {
        let key = key.as_str();
        match value {
            Value::Array(list) if LISTS.contains(&key) => list.iter_mut().for_each(rewrite),
            Value::Object(map) if MAPS.contains(&key) => map.values_mut().for_each(rewrite),
            Value::Object(_) if SCHEMAS.contains(&key) => rewrite(value),
            _ => {}
        }
    }
}

/// The schemas in a grammar in Lark: %json {...}
pub fn prepare_lark(text: &str) -> Result<String> {
    const MARK: &str = "%json";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let (before, after) = rest.split_at(at + MARK.len());
        out.push_str(before);
        let mut values = serde_json::Deserializer::from_str(after).into_iter::<Value>();
        rest = match values.next() {
            Some(Ok(mut schema)) => {
                prepare(&mut schema)?;
                out.push(' ');
                out.push_str(&schema.to_string());
                &after[values.byte_offset()..]
            }
            _ => after,
        };
    }
    Ok(out + rest)
}

/// The schemas that `schema` joins by allOf and references, and itself.
fn joined<'a>(root: &'a Value, schema: &'a Value, found: &mut Vec<&'a Value>) {
    if found.len() > MAX_JOINED || found.iter().any(|other| std::ptr::eq(*other, schema)) {
        return;
    }
    found.push(schema);
    let target = schema.get("$ref").and_then(Value::as_str);
    if let Some(target) = target.and_then(|to| root.pointer(to.strip_prefix('#')?)) {
        joined(root, target, found);
    }
    let all = schema.get("allOf").and_then(Value::as_array);
    all.into_iter()
        .flatten()
        .for_each(|part| joined(root, part, found));
}

/// Refuses schemas in one allOf of which one has a pattern for nothing but
/// properties of others, and numbers that would be rounded.
fn check(root: &Value, schema: &Value, depth: usize) -> Result<()> {
    if let Some(number) = schema.as_object().and_then(keywords::rounded) {
        return Err(format!("the value {number} has more digits than can be held exactly").into());
    }
    if schema.get("allOf").is_some() && depth < MAX_DEPTH {
        let mut parts = Vec::new();
        joined(root, schema, &mut parts);
        let members = |key: &'static str| {
            let maps = parts
                .iter()
                .filter_map(move |part| part.get(key)?.as_object());
            maps.flat_map(|map| map.keys())
        };
        let names: Vec<String> = members("properties").cloned().collect();
        for pattern in members("patternProperties") {
            if is_empty(&[pattern], &names, false) {
                return Err(format!(
                    "patternProperties '{pattern}' names only properties of other schemas in \
                     allOf; it has to be in the schema that has these properties"
                )
                .into());
            }
        }
    }
    let inner: Vec<&Value> = match schema {
        Value::Object(map) => map.values().collect(),
        Value::Array(list) => list.iter().collect(),
        _ => return Ok(()),
    };
    inner
        .into_iter()
        .try_for_each(|inner| check(root, inner, depth + 1))
}

/// A property that a pattern names, too, has to be allowed by both. llguidance
/// asks the property alone, and where nothing is left for a pattern, it begins
/// further properties that cannot be named.
fn join_properties(fields: &mut Map<String, Value>) {
    let Some(Value::Object(patterns)) = fields.get("patternProperties").cloned() else {
        return;
    };
    let required = fields.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let required: Vec<String> = required.map(String::from).collect();
    let properties = fields.entry("properties").or_insert(json!({}));
    let Some(properties) = properties.as_object_mut() else {
        return;
    };
    // A required one that only a pattern names becomes a property.
    for name in required {
        if patterns
            .keys()
            .any(|pattern| matches(pattern, &name) == Some(true))
        {
            properties.entry(name).or_insert(Value::Bool(true));
        }
    }
    for (name, schema) in properties.iter_mut() {
        for (pattern, more) in &patterns {
            if matches(pattern, name) == Some(true) {
                join(schema, more);
            }
        }
    }
    let names: Vec<String> = properties.keys().cloned().collect();
    let rest: Map<String, Value> = patterns
        .into_iter()
        .filter(|(pattern, _)| !is_empty(&[pattern], &names, false))
        .collect();
    let all: Vec<&str> = rest.keys().map(String::as_str).collect();
    let open = fields.get("additionalProperties") != Some(&Value::Bool(false));
    if open && is_empty(&all, &names, true) {
        fields.insert("additionalProperties".to_string(), Value::Bool(false));
    }
    fields.insert("patternProperties".to_string(), Value::Object(rest));
}

/// Makes `schema` one that allows only what `more` does, too.
fn join(schema: &mut Value, more: &Value) {
    match schema {
        Value::Bool(true) => *schema = more.clone(),
        Value::Object(fields) if !fields.contains_key("$ref") => {
            let all = fields.entry("allOf").or_insert(json!([]));
            if let Value::Array(all) = all {
                all.push(more.clone());
            }
        }
        Value::Object(_) => *schema = json!({"allOf": [schema.clone(), more.clone()]}),
        _ => {}
    }
}

fn matches(pattern: &str, name: &str) -> Option<bool> {
    let mut builder = RegexBuilder::new();
    let regex = builder
        .mk_regex_for_serach(&regex_to_lark(pattern, "dw"))
        .ok()?;
    Some(
        builder
            .to_regex_limited(regex, MAX_WORK)
            .ok()?
            .is_match(name),
    )
}

/// Tells whether no text but `names` matches one of `patterns`, or, if `outside`,
/// whether each text does. False if that is not known.
fn is_empty(patterns: &[&str], names: &[String], outside: bool) -> bool {
    let decide = || -> Option<bool> {
        let mut builder = RegexBuilder::new();
        let mut all = Vec::new();
        for pattern in patterns {
            let regex = builder
                .mk_regex_for_serach(&regex_to_lark(pattern, "dw"))
                .ok()?;
            all.push(RegexAst::ExprRef(regex));
        }
        let names = names.iter().map(|name| RegexAst::Literal(name.clone()));
        let rest = match outside {
            true => RegexAst::Not(Box::new(RegexAst::Or(
                all.into_iter().chain(names).collect(),
            ))),
            false => {
                let other = RegexAst::Not(Box::new(RegexAst::Or(names.collect())));
                all.push(other);
                RegexAst::And(all)
            }
        };
        // Names are text: no line end and no control character is left out.
        let text = builder.mk_regex("(?s:.*)").ok()?;
        let rest = RegexAst::And(vec![rest, RegexAst::ExprRef(text)]);
        let regex = builder.mk(&rest).ok()?;
        Some(
            builder
                .to_regex_limited(regex, MAX_WORK)
                .ok()?
                .always_empty(),
        )
    };
    decide().unwrap_or(false)
}
