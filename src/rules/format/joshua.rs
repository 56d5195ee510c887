//! Joshua's rules: cdec's with costs in columns, `[X] ||| a [X,1] b ||| c [X,1] d ||| 0.1 0.2 ||| 0-0`.
//!
//! Read as cdec's: columns are called `F1`, `F2`, ..., and a number that has a name keeps it. Written without names.

use super::{Line, cdec, write_number};
use crate::error::Result;
use crate::rules::rule::Rule;

pub fn parse<'a>(line: &Line<'_, 'a>) -> Result<Option<Rule<'a>>> {
    cdec::parse(line)
}

pub fn write(rule: &Rule, out: &mut Vec<u8>) {
    cdec::write_with(rule, out, |_, value, out| write_number(value, out));
}
