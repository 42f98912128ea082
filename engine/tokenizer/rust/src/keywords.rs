//! Says keywords of JSON Schema that llguidance refuses by others.

use serde_json::{json, Map, Value};

/// Members that say nothing of what a schema allows.
const REMARKS: &[&str] = &["title", "description", "$comment", "examples", "default"];
/// Members whose schemas say which properties are evaluated, too.
const APPLICATORS: &[&str] = &[
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentSchemas",
];

/// What pydantic writes for a Decimal, and the same without looking ahead.
const DECIMAL: &str = r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$";
const PLAIN_DECIMAL: &str = r"^[+-]?(\d+\.?\d*|\.\d+)$";

/// llguidance has no ranges beyond 64 bits.
const MAX_BOUND: i64 = 9_000_000_000_000_000_000;

/// Changes the members of a schema to some that allow the same.
pub fn replace(fields: &mut Map<String, Value>) {
    if fields.get("uniqueItems") == Some(&Value::Bool(false)) {
        fields.remove("uniqueItems");
    }
    if let Some(Value::String(pattern)) = fields.get_mut("pattern") {
        replace_pattern(pattern);
    }
    bring_in_bounds(fields);
    replace_unevaluated(fields);
    replace_names(fields);
}

/// Bounds of wide types, as of 64 bits, become the widest that can be held. No
/// bound admits more than before.
fn bring_in_bounds(fields: &mut Map<String, Value>) {
    for (key, sign) in [
        ("maximum", 1),
        ("exclusiveMaximum", 1),
        ("minimum", -1),
        ("exclusiveMinimum", -1),
    ] {
        if let Some(Value::Number(bound)) = fields.get_mut(key) {
            let beyond = bound.as_f64().map(|b| b * sign as f64 > MAX_BOUND as f64);
            if beyond == Some(true) {
                *bound = (sign * MAX_BOUND).into();
            }
        }
    }
}

/// Finds a number that a schema has as a value, but llguidance would round.
pub fn rounded(schema: &Map<String, Value>) -> Option<&Value> {
    let values = ["const", "enum"].iter().filter_map(|key| schema.get(*key));
    values.into_iter().find_map(rounded_in)
}

fn rounded_in(value: &Value) -> Option<&Value> {
    match value {
        Value::Number(number) => {
            let integer = number
                .as_i64()
                .map(i128::from)
                .or(number.as_u64().map(i128::from));
            integer.filter(|n| *n as f64 as i128 != *n).map(|_| value)
        }
        Value::Array(list) => list.iter().find_map(rounded_in),
        Value::Object(map) => map.values().find_map(rounded_in),
        _ => None,
    }
}

/// Python writes \Z for the end of a text.
fn replace_pattern(pattern: &mut String) {
    if pattern == DECIMAL {
        *pattern = PLAIN_DECIMAL.to_string();
        return;
    }
    let mut escaped = false;
    let replaced = pattern.chars().map(|c| {
        let end = escaped && c == 'Z';
        escaped = !escaped && c == '\\';
        if end {
            'z'
        } else {
            c
        }
    });
    *pattern = replaced.collect();
}

/// Tells whether a schema allows nothing: {"not": {}}.
pub fn allows_nothing(schema: &Value) -> bool {
    let inner = schema.get("not");
    inner == Some(&Value::Bool(true)) || inner == Some(&json!({}))
}

/// Where no other schema evaluates properties, those that are not evaluated are
/// additional ones.
fn replace_unevaluated(fields: &mut Map<String, Value>) {
    if APPLICATORS.iter().any(|key| fields.contains_key(*key)) {
        return;
    }
    if let Some(schema) = fields.remove("unevaluatedProperties") {
        fields.entry("additionalProperties").or_insert(schema);
    }
}

/// Names that are any texts are no limit; those of a list are properties, and
/// those of a pattern are its.
fn replace_names(fields: &mut Map<String, Value>) {
    let mut names = match fields.get("propertyNames") {
        Some(Value::Object(names)) => names.clone(),
        Some(Value::Bool(true)) => Map::new(),
        _ => return,
    };
    names.retain(|key, value| {
        !REMARKS.contains(&key.as_str()) && !(key == "type" && value == "string")
    });
    if names.is_empty() {
        fields.remove("propertyNames");
        return;
    }
    let named = ["properties", "patternProperties"];
    if names.len() > 1 || named.iter().any(|key| fields.contains_key(*key)) {
        return;
    }
    let schema = fields
        .get("additionalProperties")
        .cloned()
        .unwrap_or(Value::Bool(true));
    let listed = match names.get("const") {
        Some(name) => Some(vec![name.clone()]),
        None => names.get("enum").and_then(Value::as_array).cloned(),
    };
    let (key, keys) = match (listed, names.get("pattern")) {
        (Some(list), _) => ("properties", list),
        (None, Some(pattern)) => ("patternProperties", vec![pattern.clone()]),
        _ => return,
    };
    let keys = keys.iter().filter_map(Value::as_str);
    let members: Map<String, Value> = keys.map(|k| (k.to_string(), schema.clone())).collect();
    fields.remove("propertyNames");
    fields.insert(key.to_string(), Value::Object(members));
    fields.insert("additionalProperties".to_string(), Value::Bool(false));
}
