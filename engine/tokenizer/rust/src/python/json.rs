//! Values as JSON and as Python writes them.

use minijinja::Value;

use crate::args::{bind, flag, size, some};
use crate::style::{text_of, Result, Style};

/// pprint.pformat(), of a value that takes one line.
pub fn pretty(value: &Value) -> Result<Value> {
    let style = Style {
        sorted: true,
        ..Style::PYTHON
    };
    let mut out = String::new();
    style.write(value, 0, &mut out)?;
    Ok(out.into())
}

/// transformers' filter: json.dumps(), ensure_ascii false unless asked for.
pub fn to_json(value: &Value, args: &[Value]) -> Result<Value> {
    let names = ["ensure_ascii", "indent", "separators", "sort_keys"];
    let [ascii, indent, separators, sorted] = bind(names, args)?;
    let indent = match some(indent) {
        None => None,
        Some(text) if text.as_str().is_some() => Some(text_of(&text)?),
        Some(width) => Some(" ".repeat(size(Some(width), 0)?)),
    };
    let (items, keys) = match some(separators) {
        Some(separators) => {
            let of = |at| separators.get_item_by_index(at).and_then(|s| text_of(&s));
            (of(0)?, of(1)?)
        }
        None => {
            let items = if indent.is_some() { "," } else { ", " };
            (items.to_string(), ": ".to_string())
        }
    };
    let style = Style {
        json: true,
        ascii: flag(ascii, false),
        sorted: flag(sorted, false),
        indent,
        item_separator: &items,
        key_separator: &keys,
    };
    let mut out = String::new();
    style.write(value, 0, &mut out)?;
    Ok(out.into())
}
