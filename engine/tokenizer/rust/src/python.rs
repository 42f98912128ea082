//! What Jinja inherits from Python, and transformers' own functions.

use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State, Value};
use minijinja_contrib::pycompat;

use crate::strings::{self, capitalize, strip, title};
use crate::style::{check_size, error, text_of, Result, Style};

/// `env` with Python's ways where Jinja has them and minijinja its own.
pub fn install(env: &mut Environment) {
    env.set_formatter(|out: &mut Output, _: &State, value: &Value| {
        Ok(out.write_str(&text_of(value)?)?)
    });
    env.set_unknown_method_callback(call_method);
    env.add_filter("string", |value: &Value| text_of(value));
    env.add_filter("tojson", to_json);
    env.add_filter("trim", |text: &Value, characters: Option<String>| {
        Ok::<_, Error>(strip(&text_of(text)?, characters.as_deref()).to_string())
    });
    env.add_filter("title", |text: &Value| {
        Ok::<_, Error>(title(&text_of(text)?))
    });
    env.add_filter("upper", |text: &Value| {
        Ok::<_, Error>(text_of(text)?.to_uppercase())
    });
    env.add_filter("lower", |text: &Value| {
        Ok::<_, Error>(text_of(text)?.to_lowercase())
    });
    env.add_filter("capitalize", |text: &Value| {
        Ok::<_, Error>(capitalize(&text_of(text)?))
    });
    env.add_filter("replace", replace);
    env.add_filter("join", join);
    env.add_filter("indent", indent);
    env.add_filter("length", length);
    env.add_filter("count", length);
    env.remove_filter("format"); // any width, and few know it
    env.add_test("iterable", |value: &Value| {
        !value.is_none() && value.try_iter().is_ok()
    });
    env.add_test("sequence", |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::Seq | ValueKind::Map | ValueKind::String
        )
    });
}

/// datetime.strftime() of local time.
pub fn strftime(format: &str, unix_micros: i64) -> Result<String> {
    let format = format.replace("%f", &format!("{:06}", unix_micros.rem_euclid(1_000_000)));
    // Never empty, so that no text is told from one that is too long.
    let format = std::ffi::CString::new(format + " ").map_err(|e| error(e.to_string()))?;
    let seconds: libc::time_t = unix_micros.div_euclid(1_000_000);
    let mut out = vec![0u8; 4096];
    let size = unsafe {
        let mut parts: libc::tm = std::mem::zeroed();
        if libc::localtime_r(&seconds, &mut parts).is_null() {
            return Err(error("strftime_now: no such time"));
        }
        libc::strftime(out.as_mut_ptr().cast(), out.len(), format.as_ptr(), &parts)
    };
    if size == 0 {
        return Err(error("strftime_now: more than 4096 bytes"));
    }
    out.truncate(size - 1);
    String::from_utf8(out).map_err(|e| error(e.to_string()))
}

/// transformers' filter: json.dumps(), ensure_ascii false unless asked for.
fn to_json(value: &Value, positional: Rest<Value>, named: Kwargs) -> Result<String> {
    let names = ["ensure_ascii", "indent", "separators", "sort_keys"];
    if positional.len() > names.len() {
        return Err(error(format!(
            "tojson takes at most {} arguments",
            names.len()
        )));
    }
    let mut given = [const { Value::UNDEFINED }; 4];
    for (at, name) in names.iter().enumerate() {
        given[at] = match positional.get(at) {
            Some(value) => value.clone(),
            None => named
                .get::<Option<Value>>(name)?
                .unwrap_or(Value::UNDEFINED),
        };
    }
    named.assert_all_used()?;
    let [ascii, indent, separators, sorted] = given;
    let indent = match indent.kind() {
        ValueKind::Undefined | ValueKind::None => None,
        ValueKind::String => Some(text_of(&indent)?),
        _ => Some(" ".repeat(indent.as_usize().unwrap_or(0).min(1000))),
    };
    let is_set = !separators.is_undefined() && !separators.is_none();
    let (items, keys) = if is_set {
        let of = |at| separators.get_item_by_index(at).and_then(|s| text_of(&s));
        (of(0)?, of(1)?)
    } else {
        let items = if indent.is_some() { "," } else { ", " };
        (items.to_string(), ": ".to_string())
    };
    let style = Style {
        json: true,
        ascii: ascii.is_true(),
        sorted: sorted.is_true(),
        indent,
        item_separator: &items,
        key_separator: &keys,
    };
    let mut out = String::new();
    style.write(value, 0, &mut out)?;
    Ok(out)
}

fn join(value: &Value, separator: Option<String>, named: Kwargs) -> Result<String> {
    let attribute: Option<String> = named.get("attribute")?;
    named.assert_all_used()?;
    let separator = separator.unwrap_or_default();
    let mut out = String::new();
    for (at, item) in value.try_iter()?.enumerate() {
        if at > 0 {
            out.push_str(&separator);
        }
        let item = match &attribute {
            Some(name) => item.get_attr(name)?,
            None => item,
        };
        out.push_str(&text_of(&item)?);
    }
    Ok(out)
}

fn replace(text: &Value, from: &Value, to: &Value, limit: Option<i64>) -> Result<String> {
    let (text, from, to) = (text_of(text)?, text_of(from)?, text_of(to)?);
    Ok(match limit {
        Some(limit) if limit >= 0 => text.replacen(&from, &to, limit as usize),
        _ => text.replace(&from, &to),
    })
}

fn indent(
    text: &Value,
    width: Option<Value>,
    first: Option<bool>,
    blank: Option<bool>,
    named: Kwargs,
) -> Result<String> {
    let width = width.or(named.get("width")?).unwrap_or(Value::from(4));
    let first = first.or(named.get("first")?).unwrap_or(false);
    let blank = blank.or(named.get("blank")?).unwrap_or(false);
    named.assert_all_used()?;
    let margin = match width.as_usize() {
        Some(width) => " ".repeat(width.min(1000)),
        None => text_of(&width)?,
    };
    let mut out = String::new();
    for (at, line) in text_of(text)?.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if (at > 0 || first) && (blank || !line.is_empty()) {
            out.push_str(&margin);
        }
        out.push_str(line);
        check_size(&out)?;
    }
    Ok(out)
}

/// What is not defined has no elements.
fn length(value: &Value) -> Result<usize> {
    if value.is_undefined() {
        return Ok(0);
    }
    let unmeasured = || error(format!("{} has no length", value.kind()));
    value.len().ok_or_else(unmeasured)
}

fn call_method(state: &State, value: &Value, method: &str, args: &[Value]) -> Result<Value> {
    if method == "format" {
        return Err(Error::from(ErrorKind::UnknownMethod)); // any width
    }
    if let Some(text) = value.as_str() {
        if let Some(result) = strings::call(text, method, args)? {
            return Ok(result);
        }
    }
    pycompat::unknown_method_callback(state, value, method, args)
}
