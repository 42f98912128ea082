//! What Python's strings know of characters.

/// The zeros of the decimal digits (general category Nd).
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];
/// Other digits (Numeric_Type=Digit).
const DIGITS: [(u32, u32); 20] = [
    (0xb2, 0xb3),
    (0xb9, 0xb9),
    (0x1369, 0x1371),
    (0x19da, 0x19da),
    (0x2070, 0x2070),
    (0x2074, 0x2079),
    (0x2080, 0x2089),
    (0x2460, 0x2468),
    (0x2474, 0x247c),
    (0x2488, 0x2490),
    (0x24ea, 0x24ea),
    (0x24f5, 0x24fd),
    (0x24ff, 0x24ff),
    (0x2776, 0x277e),
    (0x2780, 0x2788),
    (0x278a, 0x2792),
    (0x10a40, 0x10a43),
    (0x10e60, 0x10e68),
    (0x11052, 0x1105a),
    (0x1f100, 0x1f10a),
];
/// Ideographs with a numeric value.
const IDEOGRAPHS: &str = "㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆\
    玖百肆萬貮貳贰阡陆陌陸零\u{f96b}\u{f973}\u{f978}\u{f9b2}\u{f9d1}\u{f9d3}\u{f9fd}𠀁𠁤𠃢𠄡𠤪𠦃𠦌𠦜𠫪𠫽𠬙𢎐𢦘𣬛𦉭\u{2f890}";

/// str.isspace(): four separators more than Unicode.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

pub fn is_decimal(c: char) -> bool {
    ZEROS
        .iter()
        .any(|&zero| (zero..zero + 10).contains(&(c as u32)))
}

pub fn is_digit(c: char) -> bool {
    let code = c as u32;
    is_decimal(c)
        || DIGITS
            .iter()
            .any(|&(low, high)| (low..=high).contains(&code))
}

pub fn is_numeric(c: char) -> bool {
    c.is_numeric() || IDEOGRAPHS.contains(c)
}

/// The letters that are one large and one small letter.
fn is_title(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ')
        || matches!(c as u32, 0x1f88..=0x1f8f | 0x1f98..=0x1f9f | 0x1fa8..=0x1faf)
        || matches!(c, 'ᾼ' | 'ῌ' | 'ῼ')
}

pub fn is_upper(c: char) -> bool {
    c.is_uppercase() && !is_title(c)
}

pub fn is_cased(c: char) -> bool {
    c.is_uppercase() || c.is_lowercase() || is_title(c)
}

/// As the first letter of a word (Unicode's title case).
pub fn title_case(c: char) -> String {
    let one = match c as u32 {
        0x1c4..=0x1c6 => 0x1c5,
        0x1c7..=0x1c9 => 0x1c8,
        0x1ca..=0x1cc => 0x1cb,
        0x1f1..=0x1f3 => 0x1f2,
        code @ (0x10d0..=0x10fa | 0x10fd..=0x10ff) => code,
        code @ 0x1f80..=0x1faf => code | 8,
        0x1fb3 | 0x1fbc => 0x1fbc,
        0x1fc3 | 0x1fcc => 0x1fcc,
        0x1ff3 | 0x1ffc => 0x1ffc,
        _ => 0,
    };
    if let Some(one) = char::from_u32(one).filter(|_| one > 0) {
        return one.to_string();
    }
    let mut upper = c.to_uppercase();
    let first = upper.next().into_iter();
    first.chain(upper.flat_map(char::to_lowercase)).collect()
}

/// str.capitalize()
pub fn capitalize(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(title_case).unwrap_or_default();
    // The whole text, since a final sigma depends on what is before it.
    let lower = text.to_lowercase();
    let begin = text
        .chars()
        .next()
        .map_or(0, |c| c.to_lowercase().map(char::len_utf8).sum());
    first + &lower[begin..]
}

/// str.title(): a capital after each character that has no case.
pub fn title(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase());
        } else {
            out.push_str(&title_case(c));
        }
        inside = is_cased(c);
    }
    out
}

pub fn is_title_text(text: &str) -> bool {
    let (mut inside, mut any) = (false, false);
    for c in text.chars() {
        let begins = is_upper(c) || is_title(c);
        if (begins && inside) || (c.is_lowercase() && !inside) {
            return false;
        }
        inside = is_cased(c);
        any |= inside;
    }
    any
}

pub fn is_lower_text(text: &str) -> bool {
    let large = |c: char| c.is_uppercase() || is_title(c);
    !text.contains(large) && text.contains(char::is_lowercase)
}

pub fn is_upper_text(text: &str) -> bool {
    let small = |c: char| c.is_lowercase() || is_title(c);
    !text.contains(small) && text.contains(is_upper)
}

pub fn swap_case(text: &str) -> String {
    let swap = |c: char| -> String {
        match (is_upper(c), c.is_lowercase()) {
            (true, _) => c.to_lowercase().collect(),
            (_, true) => c.to_uppercase().collect(),
            _ => c.to_string(),
        }
    };
    text.chars().map(swap).collect()
}

/// str.casefold(), of the letters whose folded form is no small letter.
pub fn case_fold(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            'ß' | 'ẞ' => out.push_str("ss"),
            'ς' => out.push('σ'),
            'ŉ' => out.push_str("ʼn"),
            'ſ' => out.push('s'),
            'µ' => out.push('μ'),
            '\u{fb00}'..='\u{fb06}' => {
                out.extend(c.to_uppercase().flat_map(char::to_lowercase));
            }
            c => out.extend(c.to_lowercase()),
        }
    }
    out
}

pub fn is_identifier(text: &str) -> bool {
    let begins = |c: char| c == '_' || c.is_alphabetic();
    text.starts_with(begins) && text.chars().all(|c| begins(c) || is_decimal(c))
}
