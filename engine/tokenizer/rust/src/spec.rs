//! How Python formats single values: the specifications of str.format() and %.

use minijinja::value::ValueKind;
use minijinja::Value;

use crate::args::integer;
use crate::style::{error, float, text_of, Result};

const MAX_WIDTH: usize = 1 << 20;

/// [[fill]align][sign][#][0][width][grouping][.precision][type]
#[derive(Default, Clone)]
pub struct Spec {
    pub fill: Option<char>,
    pub align: Option<char>, // < > ^ =
    pub sign: Option<char>,  // + - or a space
    pub alternate: bool,
    pub zero: bool,
    pub width: usize,
    pub grouping: Option<char>,
    pub precision: Option<usize>,
    pub kind: Option<char>,
}

/// The digits at the beginning of `rest`.
pub fn take_number(rest: &mut &str) -> Result<Option<usize>> {
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 {
        return Ok(None);
    }
    let (number, after) = rest.split_at(digits);
    *rest = after;
    match number.parse::<usize>() {
        Ok(number) if number <= MAX_WIDTH => Ok(Some(number)),
        _ => Err(error(format!("a width is {number}, limit is {MAX_WIDTH}"))),
    }
}

fn take_of(rest: &mut &str, characters: &str) -> Option<char> {
    let c = rest.chars().next().filter(|&c| characters.contains(c))?;
    *rest = &rest[c.len_utf8()..];
    Some(c)
}

impl Spec {
    pub fn parse(mut rest: &str) -> Result<Spec> {
        let mut spec = Spec::default();
        let mut ahead = rest.chars();
        let (first, second) = (ahead.next(), ahead.next());
        if second.is_some_and(|c| "<>^=".contains(c)) {
            (spec.fill, spec.align) = (first, second);
            rest = ahead.as_str();
        } else {
            spec.align = take_of(&mut rest, "<>^=");
        }
        spec.sign = take_of(&mut rest, "+- ");
        take_of(&mut rest, "z");
        spec.alternate = take_of(&mut rest, "#").is_some();
        spec.zero = take_of(&mut rest, "0").is_some();
        spec.width = take_number(&mut rest)?.unwrap_or(0);
        spec.grouping = take_of(&mut rest, ",_");
        if take_of(&mut rest, ".").is_some() {
            let missing = || error("a format has no precision after its point");
            spec.precision = Some(take_number(&mut rest)?.ok_or_else(missing)?);
        }
        spec.kind = take_of(&mut rest, "bcdeEfFgGnosxX%");
        match rest {
            "" => Ok(spec),
            _ => Err(error("a format specification is not valid")),
        }
    }

    fn is_plain(&self) -> bool {
        self.width == 0
            && self.align.is_none()
            && self.sign.is_none()
            && self.precision.is_none()
            && self.kind.is_none()
            && self.grouping.is_none()
            && !self.zero
            && !self.alternate
    }

    /// format(value, spec)
    pub fn format(&self, value: &Value) -> Result<String> {
        if let Some(text) = value.as_str() {
            return self.text(text);
        }
        let number = match value.kind() {
            ValueKind::Bool if self.is_plain() => return text_of(value),
            ValueKind::Bool => Value::from(integer(value)?),
            ValueKind::Number => value.clone(),
            kind if !self.is_plain() => {
                return Err(error(format!("{kind} takes no format specification")));
            }
            _ => return text_of(value),
        };
        match self.kind {
            Some('b' | 'c' | 'd' | 'n' | 'o' | 'x' | 'X') | None if number.is_integer() => {
                self.integer(&number)
            }
            Some('b' | 'c' | 'd' | 'o' | 'x' | 'X' | 's') => {
                Err(error("a format specification is none of this type"))
            }
            _ => self.number(f64::try_from(number).unwrap_or(f64::NAN)),
        }
    }

    fn text(&self, text: &str) -> Result<String> {
        if !matches!(self.kind, None | Some('s')) || self.sign.is_some() || self.align == Some('=')
        {
            return Err(error("a format specification is none of a string"));
        }
        let cut: String = match self.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text.to_string(),
        };
        let fill = self.fill.unwrap_or(if self.zero { '0' } else { ' ' });
        Ok(pad(&cut, self.width, fill, self.align.unwrap_or('<')))
    }

    fn integer(&self, value: &Value) -> Result<String> {
        let number = i128::try_from(value.clone())?;
        if self.kind == Some('c') {
            let c = u32::try_from(number).ok().and_then(char::from_u32);
            let c = c.ok_or_else(|| error("%c needs a character"))?;
            return Ok(pad(
                &c.to_string(),
                self.width,
                ' ',
                self.align.unwrap_or('>'),
            ));
        }
        let size = number.unsigned_abs();
        let (digits, prefix, group) = match self.kind {
            Some('b') => (format!("{size:b}"), "0b", 4),
            Some('o') => (format!("{size:o}"), "0o", 4),
            Some('x') => (format!("{size:x}"), "0x", 4),
            Some('X') => (format!("{size:X}"), "0X", 4),
            _ => (size.to_string(), "", 3),
        };
        let prefix = if self.alternate { prefix } else { "" };
        Ok(self.signed(number < 0, prefix, digits, group))
    }

    pub fn number(&self, value: f64) -> Result<String> {
        let size = value.abs();
        let precision = self.precision.unwrap_or(6);
        let kind = self
            .kind
            .unwrap_or(if self.precision.is_some() { 'g' } else { 'r' });
        let mut digits = match kind {
            _ if !size.is_finite() => (if size.is_nan() { "nan" } else { "inf" }).to_string(),
            'f' | 'F' => format!("{size:.precision$}"),
            '%' => format!("{:.precision$}%", size * 100.0),
            'e' | 'E' => scientific(size, precision),
            'r' => float(size),
            _ => general(size, precision.max(1), self.alternate),
        };
        if self.kind.is_none() && self.precision.is_some() && !digits.contains(['.', 'e']) {
            digits.push_str(".0");
        }
        if matches!(kind, 'E' | 'F' | 'G') {
            digits = digits.to_uppercase();
        }
        Ok(self.signed(value.is_sign_negative() && !value.is_nan(), "", digits, 3))
    }

    /// With sign, prefix, separators of groups and padding.
    fn signed(&self, negative: bool, prefix: &str, digits: String, group: usize) -> String {
        let sign = match self.sign {
            _ if negative => "-",
            Some('+') => "+",
            Some(' ') => " ",
            _ => "",
        };
        let digits = match self.grouping {
            Some(separator) => grouped(&digits, separator, group),
            None => digits,
        };
        let fill = self.fill.unwrap_or(if self.zero { '0' } else { ' ' });
        let align = self.align.unwrap_or(if self.zero { '=' } else { '>' });
        let before = format!("{sign}{prefix}");
        if align != '=' {
            return pad(&format!("{before}{digits}"), self.width, fill, align);
        }
        let rest = self.width.saturating_sub(before.chars().count());
        format!("{before}{}", pad(&digits, rest, fill, '>'))
    }
}

pub fn pad(text: &str, width: usize, fill: char, align: char) -> String {
    let missing = width.saturating_sub(text.chars().count());
    let before = match align {
        '<' => 0,
        '^' => missing / 2,
        _ => missing,
    };
    let fills = |count| std::iter::repeat_n(fill, count).collect::<String>();
    format!("{}{text}{}", fills(before), fills(missing - before))
}

fn grouped(digits: &str, separator: char, group: usize) -> String {
    let whole = digits.find(['.', 'e', '%']).unwrap_or(digits.len());
    let mut out = String::new();
    for (at, c) in digits[..whole].chars().enumerate() {
        if at > 0 && (whole - at) % group == 0 {
            out.push(separator);
        }
        out.push(c);
    }
    out + &digits[whole..]
}

/// 1.5e+03
fn scientific(size: f64, precision: usize) -> String {
    let text = format!("{size:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

fn general(size: f64, precision: usize, keeps_zeros: bool) -> String {
    let text = scientific(size, precision - 1);
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i64 = power.parse().unwrap_or(0);
    let trim = |digits: &str| match digits.contains('.') && !keeps_zeros {
        true => digits
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_string(),
        false => digits.to_string(),
    };
    if power < -4 || power >= precision as i64 {
        return format!("{}{}", trim(digits), &text[digits.len()..]);
    }
    let after = (precision as i64 - 1 - power).max(0) as usize;
    trim(&format!("{size:.after$}"))
}
