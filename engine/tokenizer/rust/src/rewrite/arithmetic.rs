//! Operators that bind tighter than comparisons.

use super::parser::{Parser, MAX_DEPTH};
use crate::tokens::Kind;

impl Parser<'_> {
    pub(super) fn sum(&mut self) -> Option<String> {
        let mut out = self.concat()?;
        loop {
            if let Some(sign) = self.accept("-") {
                out += &(sign + &self.concat()?);
                continue;
            }
            if self.peek() != "+" || self.kind() != Some(Kind::Sign) {
                return Some(out);
            }
            while self.accept("+").is_some() {
                out += &format!(",{}", self.concat()?);
            }
            out = format!(" add__({out})");
        }
    }

    pub(super) fn concat(&mut self) -> Option<String> {
        let first = self.product()?;
        if self.peek() != "~" {
            return Some(first);
        }
        let mut all = first;
        while self.accept("~").is_some() {
            all += &format!(",{}", self.product()?);
        }
        Some(format!(" cat__({all})"))
    }

    pub(super) fn product(&mut self) -> Option<String> {
        let mut out = self.power()?;
        loop {
            let function = match self.peek() {
                "*" => "mul__",
                "/" => "div__",
                "%" => "mod__",
                "//" => {
                    out += &self.take();
                    out += &self.power()?;
                    continue;
                }
                _ => return Some(out),
            };
            self.at += 1;
            out = format!(" {function}({out},{})", self.power()?);
        }
    }

    pub(super) fn power(&mut self) -> Option<String> {
        let mut out = self.unary(true)?;
        while self.accept("**").is_some() {
            out = format!(" pow__({out},{})", self.unary(true)?);
        }
        Some(out)
    }

    pub(super) fn unary(&mut self, with_filter: bool) -> Option<String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let out = match self.peek() {
            "-" if self.kind() == Some(Kind::Sign) => self.take() + &self.unary(false)?,
            "+" if self.kind() == Some(Kind::Sign) => {
                self.at += 1;
                self.unary(false)?
            }
            _ => {
                let primary = self.primary()?;
                self.postfix(primary)?
            }
        };
        self.depth -= 1;
        if with_filter {
            self.filters(out)
        } else {
            Some(out)
        }
    }
}
