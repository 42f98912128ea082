//! How Python writes values: str(), repr() and json.dumps().

use std::fmt::Write;

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};

use crate::objects::{as_tuple, Tuple, TupleKind};

pub type Result<T> = std::result::Result<T, Error>;

/// Of a value in words: lists may hold one another many times over.
const MAX_TEXT: usize = 16 << 20;

pub fn error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

pub fn check_size(text: &str) -> Result<()> {
    if text.len() > MAX_TEXT {
        return Err(error(format!("a value takes more than {MAX_TEXT} bytes")));
    }
    Ok(())
}

/// str(value)
pub fn text_of(value: &Value) -> Result<String> {
    match (value.as_str(), value.kind()) {
        (Some(text), ValueKind::String) => Ok(text.to_string()),
        (_, ValueKind::Undefined) => Ok(String::new()),
        _ => {
            let mut out = String::new();
            Style::PYTHON.write(value, 0, &mut out)?;
            Ok(out)
        }
    }
}

/// repr(value)
pub fn repr(value: &Value) -> Result<String> {
    let mut out = String::new();
    Style::PYTHON.write(value, 0, &mut out)?;
    Ok(out)
}

/// ascii(value)
pub fn ascii(value: &Value) -> Result<String> {
    let mut out = String::new();
    for c in repr(value)?.chars() {
        match c as u32 {
            ..=0x7e => out.push(c),
            _ => escape(c, &mut out),
        }
    }
    Ok(out)
}

/// How nested values are written: Python's repr(), or json.dumps().
pub struct Style<'a> {
    pub json: bool,
    pub ascii: bool,
    pub sorted: bool,
    pub indent: Option<String>,
    pub item_separator: &'a str,
    pub key_separator: &'a str,
}

impl Style<'_> {
    pub const PYTHON: Style<'static> = Style {
        json: false,
        ascii: false,
        sorted: false,
        indent: None,
        item_separator: ", ",
        key_separator: ": ",
    };

    pub fn write(&self, value: &Value, depth: usize, out: &mut String) -> Result<()> {
        check_size(out)?;
        match value.kind() {
            ValueKind::None => out.push_str(if self.json { "null" } else { "None" }),
            ValueKind::Bool => out.push_str(match (self.json, value.is_true()) {
                (true, true) => "true",
                (true, false) => "false",
                (false, true) => "True",
                (false, false) => "False",
            }),
            ValueKind::Number => self.number(value, out),
            ValueKind::String => self.string(value.as_str().unwrap_or(""), out),
            ValueKind::Seq | ValueKind::Iterable => self.list(value, depth, out)?,
            ValueKind::Map => self.map(value, depth, out)?,
            kind if self.json => {
                return Err(error(format!("{kind} is not JSON serializable")));
            }
            ValueKind::Undefined => out.push_str("Undefined"),
            ValueKind::Bytes => bytes(value.as_bytes().unwrap_or(&[]), out),
            _ => write!(out, "{value}").map_err(|e| error(e.to_string()))?,
        }
        Ok(())
    }

    fn number(&self, value: &Value, out: &mut String) {
        if value.is_integer() {
            let _ = write!(out, "{value}");
            return;
        }
        let number = f64::try_from(value.clone()).unwrap_or(f64::NAN);
        out.push_str(&match (self.json, number.is_finite(), number.is_nan()) {
            (_, true, _) => float(number),
            (true, _, true) => "NaN".to_string(),
            (true, _, _) => (if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            })
            .to_string(),
            (false, _, true) => "nan".to_string(),
            (false, _, _) => (if number > 0.0 { "inf" } else { "-inf" }).to_string(),
        });
    }

    fn string(&self, text: &str, out: &mut String) {
        if self.json {
            json_string(text, self.ascii, out);
        } else {
            python_string(text, out);
        }
    }

    fn list(&self, value: &Value, depth: usize, out: &mut String) -> Result<()> {
        if let Some(tuple) = as_tuple(value) {
            let view = !matches!(tuple.kind, TupleKind::Plain | TupleKind::Group);
            if self.json && view {
                return Err(error("a view of a dict is not JSON serializable"));
            }
            if !self.json {
                return self.tuple(tuple, depth, out);
            }
        }
        out.push('[');
        let mut empty = true;
        for item in value.try_iter()? {
            self.begin_item(&mut empty, depth, out);
            self.write(&item, depth + 1, out)?;
        }
        self.end_items(empty, depth, out);
        out.push(']');
        Ok(())
    }

    fn tuple(&self, tuple: &Tuple, depth: usize, out: &mut String) -> Result<()> {
        let (open, close) = match tuple.kind {
            TupleKind::Keys => ("dict_keys([", "])"),
            TupleKind::Values => ("dict_values([", "])"),
            TupleKind::Items => ("dict_items([", "])"),
            _ if tuple.items.len() == 1 => ("(", ",)"),
            _ => ("(", ")"),
        };
        out.push_str(open);
        for (at, item) in tuple.items.iter().enumerate() {
            if at > 0 {
                out.push_str(self.item_separator);
            }
            self.write(item, depth + 1, out)?;
        }
        out.push_str(close);
        Ok(())
    }

    fn map(&self, value: &Value, depth: usize, out: &mut String) -> Result<()> {
        let mut keys: Vec<Value> = value.try_iter()?.collect();
        if self.sorted {
            keys.sort();
        }
        out.push('{');
        let mut empty = true;
        for key in keys {
            self.begin_item(&mut empty, depth, out);
            if self.json && key.kind() != ValueKind::String {
                let mut name = String::new();
                self.write(&key, depth, &mut name)?;
                self.string(&name, out);
            } else {
                self.write(&key, depth, out)?;
            }
            out.push_str(self.key_separator);
            self.write(&value.get_item(&key)?, depth + 1, out)?;
        }
        self.end_items(empty, depth, out);
        out.push('}');
        Ok(())
    }

    fn begin_item(&self, first: &mut bool, depth: usize, out: &mut String) {
        if !std::mem::replace(first, false) {
            out.push_str(self.item_separator);
        }
        self.new_line(depth + 1, out);
    }

    fn end_items(&self, empty: bool, depth: usize, out: &mut String) {
        if !empty {
            self.new_line(depth, out);
        }
    }

    fn new_line(&self, depth: usize, out: &mut String) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            (0..depth).for_each(|_| out.push_str(indent));
        }
    }
}

/// repr(float): Rust's digits, Python's exponent.
pub fn float(number: f64) -> String {
    let text = format!("{number:?}");
    match text.split_once('e') {
        None => text,
        Some((digits, exponent)) => {
            let (sign, power) = match exponent.strip_prefix('-') {
                Some(power) => ('-', power),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{power:0>2}")
        }
    }
}

fn json_string(text: &str, ascii: bool, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            c if c < ' ' || (ascii && !(' '..='~').contains(&c)) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// repr(str)
fn python_string(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if is_printable(c) => out.push(c),
            c => escape(c, out),
        }
    }
    out.push(quote);
}

/// repr(bytes)
fn bytes(bytes: &[u8], out: &mut String) {
    out.push_str("b'");
    for &byte in bytes {
        let _ = match byte {
            b'\'' | b'\\' => write!(out, "\\{}", byte as char),
            b'\n' => write!(out, "\\n"),
            b' '..=b'~' => write!(out, "{}", byte as char),
            _ => write!(out, "\\x{byte:02x}"),
        };
    }
    out.push('\'');
}

fn escape(c: char, out: &mut String) {
    let _ = match c as u32 {
        code @ ..=0xff => write!(out, "\\x{code:02x}"),
        code @ ..=0xffff => write!(out, "\\u{code:04x}"),
        code => write!(out, "\\U{code:08x}"),
    };
}

/// str.isprintable() of assigned characters: no controls, formats, private ones,
/// and of the spaces only one.
pub fn is_printable(c: char) -> bool {
    const FORMATS: [(u32, u32); 14] = [
        (0xad, 0xad),
        (0x600, 0x605),
        (0x61c, 0x61c),
        (0x6dd, 0x6dd),
        (0x70f, 0x70f),
        (0x8e2, 0x8e2),
        (0x180e, 0x180e),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0xe000, 0xf8ff),
        (0xfeff, 0xfeff),
        (0xfff0, 0xfffb),
        (0xe0000, 0x10ffff),
    ];
    let code = c as u32;
    !c.is_control()
        && (c == ' ' || !c.is_whitespace())
        && !FORMATS
            .iter()
            .any(|&(low, high)| (low..=high).contains(&code))
}
