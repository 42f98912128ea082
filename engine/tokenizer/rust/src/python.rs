//! What Jinja inherits from Python, and transformers' own functions.

use std::cmp::Ordering;
use std::sync::atomic::AtomicUsize;
use std::sync::Arc;

use minijinja::value::{from_args, Kwargs, Object, ObjectRepr, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State, Value};

use crate::args::{bind, flag, integer, required, size, some, string, text_or};
use crate::characters::{capitalize, is_lower_text, is_space, is_upper_text};
use crate::format::percent;
use crate::objects::{compare, equal, is_plain_tuple, pairs_of, tuple, Cycler, Joiner, Method};
use crate::sequences::{self, dict_method, list_method};
use crate::strings::{self, strip};
use crate::style::{check_size, error, text_of, Result, Style};
use crate::texts;

/// Bytes or entries, so that none is made in vain that the limit of memory ends.
const MAX_REPEATED: usize = 16 << 20;

type Filter = fn(&Value, &[Value]) -> Result<Value>;

/// Jinja's filters that take the value and arguments by position or name.
const FILTERS: &[(&str, Filter)] = &[
    ("abs", |value, args| none_given(args, || texts::abs(value))),
    ("batch", sequences::batch),
    ("capitalize", |value, args| of_text(value, args, capitalize)),
    ("center", texts::center),
    ("count", |value, args| none_given(args, || length(value))),
    ("d", texts::default),
    ("default", texts::default),
    ("dictsort", sequences::dict_sort),
    ("e", |value, args| {
        none_given(args, || texts::escape(value, false))
    }),
    ("escape", |value, args| {
        none_given(args, || texts::escape(value, false))
    }),
    ("filesizeformat", texts::file_size),
    ("first", |value, args| {
        none_given(args, || sequences::ends(value, false))
    }),
    ("float", texts::float),
    ("forceescape", |value, args| {
        none_given(args, || texts::escape(value, true))
    }),
    ("format", format),
    ("groupby", sequences::group_by),
    ("indent", texts::indent),
    ("int", texts::int),
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
    ("round", texts::round),
    ("slice", sequences::slice),
    ("sort", sequences::sort),
    ("string", |value, args| of_text(value, args, str::to_string)),
    ("striptags", |value, args| {
        none_given(args, || texts::strip_tags(value))
    }),
    ("sum", sequences::sum),
    ("title", |value, args| of_text(value, args, title_of_words)),
    ("tojson", to_json),
    ("trim", trim),
    ("truncate", texts::truncate),
    ("unique", sequences::unique),
    ("upper", |value, args| {
        of_text(value, args, str::to_uppercase)
    }),
    ("urlencode", |value, args| {
        none_given(args, || texts::url_encode(value))
    }),
    ("wordcount", |value, args| {
        none_given(args, || texts::word_count(value))
    }),
    ("wordwrap", texts::word_wrap),
    ("xmlattr", texts::xml_attributes),
];

/// `env` with Python's ways where Jinja has them and minijinja its own.
pub fn install(env: &mut Environment) {
    env.set_formatter(|out: &mut Output, _: &State, value: &Value| {
        Ok(out.write_str(&text_of(value)?)?)
    });
    env.set_unknown_method_callback(call_method);
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
    add_tests(env);
    add_functions(env);
    add_operators(env);
}

fn add_tests(env: &mut Environment) {
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

fn add_functions(env: &mut Environment) {
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

/// The operators that rewrite.rs makes functions.
fn add_operators(env: &mut Environment) {
    env.add_function("tuple__", |items: Rest<Value>| tuple(items.to_vec()));
    env.add_function("same__", |value: Value| value);
    env.add_function("cat__", |parts: Rest<Value>| {
        let mut out = String::new();
        for part in parts.iter() {
            out.push_str(&text_of(part)?);
            check_size(&out)?;
        }
        Ok::<_, Error>(out)
    });
    env.add_function("mod__", remainder);
    env.add_function("div__", |a: &Value, b: &Value| {
        match (as_float(a), as_float(b)) {
            (Some(_), Some(0.0)) => Err(error("division by zero")),
            (Some(a), Some(b)) => Ok(Value::from(a / b)),
            _ => Err(error(format!(
                "{} and {} have no quotient",
                a.kind(),
                b.kind()
            ))),
        }
    });
    env.add_function("pow__", power);
    env.add_function("mul__", product);
    env.add_function("add__", |parts: Rest<Value>| {
        let (first, rest) = parts.split_first().ok_or_else(|| error("nothing to add"))?;
        rest.iter()
            .try_fold(first.clone(), |sum, part| sum_of(&sum, part))
    });
    env.add_function("eq__", |a: &Value, b: &Value| equal(a, b));
    env.add_function("in__", |state: &State, a: &Value, b: &Value| {
        if b.as_str().is_some() && a.as_str().is_none() && !a.is_undefined() {
            return Err(error(format!("{} is in no string", a.kind())));
        }
        state.perform_test("in", &[a.clone(), b.clone()])
    });
    env.add_function("seq__", |value: Value| match value.is_none() {
        true => Err(error("none is not iterable")),
        false => Ok(value),
    });
    for (name, holds) in [
        ("lt__", Ordering::is_lt as fn(Ordering) -> bool),
        ("le__", Ordering::is_le),
        ("gt__", Ordering::is_gt),
        ("ge__", Ordering::is_ge),
    ] {
        env.add_function(name, move |a: &Value, b: &Value| compare(a, b).map(holds));
    }
    env.add_function("attr__", |value: &Value, name: &str, of_dict: u8| {
        let has = match value.kind() {
            ValueKind::String => of_dict == 0,
            ValueKind::Map => of_dict == 1 && !is_own_object(value),
            _ => false,
        };
        match has {
            true => Ok(Value::from_object(Method {
                owner: value.clone(),
                name: name.to_string(),
            })),
            false => value.get_attr(name),
        }
    });
}

/// The value of a macro's argument that is not given.
#[derive(Debug)]
struct Missing;
impl Object for Missing {}

/// A namespace, a loop or a module: their attributes are what they say.
fn is_own_object(value: &Value) -> bool {
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
fn dict(args: &[Value]) -> Result<Value> {
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

/// Jinja's title: a capital after a space, a hyphen or an opening bracket.
fn title_of_words(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        match inside {
            true => out.extend(c.to_lowercase()),
            false => out.extend(c.to_uppercase()),
        }
        inside = !(is_space(c) || "-({[<".contains(c));
    }
    out
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

fn trim(value: &Value, args: &[Value]) -> Result<Value> {
    let [characters] = bind(["chars"], args)?;
    let characters = some(characters);
    let characters = characters.as_ref().map(string).transpose()?;
    Ok(strip(&text_of(value)?, characters).into())
}

/// pprint.pformat(), of a value that takes one line.
fn pretty(value: &Value) -> Result<Value> {
    let style = Style {
        sorted: true,
        ..Style::PYTHON
    };
    let mut out = String::new();
    style.write(value, 0, &mut out)?;
    Ok(out.into())
}

/// transformers' filter: json.dumps(), ensure_ascii false unless asked for.
fn to_json(value: &Value, args: &[Value]) -> Result<Value> {
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

/// What is not defined has no elements.
fn length(value: &Value) -> Result<Value> {
    if value.is_undefined() {
        return Ok(Value::from(0));
    }
    let unmeasured = || error(format!("{} has no length", value.kind()));
    value.len().map(Value::from).ok_or_else(unmeasured)
}

fn as_float(value: &Value) -> Option<f64> {
    match value.kind() {
        ValueKind::Bool => integer(value).ok().map(|number| number as f64),
        ValueKind::Number => f64::try_from(value.clone()).ok(),
        _ => None,
    }
}

/// a % b: of a text its values, of numbers a remainder with the sign of b.
fn remainder(a: &Value, b: &Value) -> Result<Value> {
    if let Some(text) = a.as_str() {
        return percent(text, b).map(Value::from);
    }
    if let (Some(a), Some(b)) = (whole(a), whole(b)) {
        let rest = a
            .checked_rem(b)
            .ok_or_else(|| error("integer modulo by zero"))?;
        let rest = if rest != 0 && (rest < 0) != (b < 0) {
            rest + b
        } else {
            rest
        };
        return Ok(i64::try_from(rest).map_or(Value::from(rest), Value::from));
    }
    match (as_float(a), as_float(b)) {
        (Some(_), Some(0.0)) => Err(error("float modulo by zero")),
        (Some(a), Some(b)) => {
            let rest = a % b;
            Ok(if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
                rest + b
            } else {
                rest
            }
            .into())
        }
        _ => Err(error(format!(
            "{} and {} have no remainder",
            a.kind(),
            b.kind()
        ))),
    }
}

/// a + b, also of texts, where one that is marked safe escapes the other, and of
/// lists.
fn sum_of(a: &Value, b: &Value) -> Result<Value> {
    if let (Some(left), Some(right)) = (a.as_str(), b.as_str()) {
        if !a.is_safe() && !b.is_safe() {
            let text = [left, right].concat();
            check_size(&text)?;
            return Ok(text.into());
        }
        let part = |value: &Value, text: &str| match value.is_safe() {
            true => text.to_string(),
            false => texts::escaped(text),
        };
        return Ok(Value::from_safe_string(part(a, left) + &part(b, right)));
    }
    sequences::add(a, b)
}

/// a * b, also of a text or a list and a number.
fn product(a: &Value, b: &Value) -> Result<Value> {
    let (times, repeated) =
        match a.as_str().is_some() || matches!(a.kind(), ValueKind::Seq | ValueKind::Iterable) {
            true => (b, a),
            false => (a, b),
        };
    if let Some(text) = repeated.as_str() {
        let times = integer(times)?.max(0) as usize;
        if text.len().saturating_mul(times) > MAX_REPEATED {
            return Err(error("repeated string is too large"));
        }
        return Ok(text.repeat(times).into());
    }
    if matches!(repeated.kind(), ValueKind::Seq | ValueKind::Iterable) {
        let items: Vec<Value> = repeated.try_iter()?.collect();
        let times = integer(times)?.max(0) as usize;
        if items.len().saturating_mul(times) > MAX_REPEATED {
            return Err(error("repeated list is too large"));
        }
        let count = items.len() * times;
        let all: Vec<Value> = items.into_iter().cycle().take(count).collect();
        return Ok(if is_plain_tuple(repeated) {
            tuple(all)
        } else {
            all.into()
        });
    }
    if let (Some(a), Some(b)) = (whole(a), whole(b)) {
        let product = a
            .checked_mul(b)
            .ok_or_else(|| error(format!("{a} * {b} is too large")))?;
        return Ok(i64::try_from(product).map_or(Value::from(product), Value::from));
    }
    match (as_float(a), as_float(b)) {
        (Some(a), Some(b)) => Ok(Value::from(a * b)),
        _ => Err(error(format!(
            "{} and {} have no product",
            a.kind(),
            b.kind()
        ))),
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value.is_integer() {
        true => i128::try_from(value.clone()).ok(),
        false => integer(value).ok().map(i128::from),
    }
}

fn power(a: &Value, b: &Value) -> Result<Value> {
    if let (Some(a), Some(b)) = (whole(a), whole(b).and_then(|b| u32::try_from(b).ok())) {
        let number = a
            .checked_pow(b)
            .ok_or_else(|| error(format!("{a} ** {b} is too large")))?;
        return Ok(i64::try_from(number).map_or(Value::from(number), Value::from));
    }
    match (as_float(a), as_float(b)) {
        (Some(0.0), Some(b)) if b < 0.0 => Err(error("0.0 cannot be raised to a negative power")),
        (Some(a), Some(b)) => Ok(a.powf(b).into()),
        _ => Err(error(format!(
            "{} and {} have no power",
            a.kind(),
            b.kind()
        ))),
    }
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
