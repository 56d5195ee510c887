//! An automaton of any of the three semirings, as it comes out of a file.

use super::flat::FlatFst;
use super::semiring::{Log, Log64, Tropical, Weight};
use super::symbols::SymbolTable;
use crate::error::{Error, Result};
use std::sync::Arc as Shared;

#[derive(Clone, Debug, PartialEq)]
pub enum AnyFst {
    Standard(FlatFst<Tropical>),
    Log(FlatFst<Log>),
    Log64(FlatFst<Log64>),
}

/// Runs the same code on whichever automaton is inside: `with_fst!(any, f => f.num_states())`.
#[macro_export]
macro_rules! with_fst {
    ($any:expr, $f:ident => $body:expr) => {
        match $any {
            $crate::fst::any::AnyFst::Standard($f) => $body,
            $crate::fst::any::AnyFst::Log($f) => $body,
            $crate::fst::any::AnyFst::Log64($f) => $body,
        }
    };
}

/// As `with_fst!`, for code that gives `Result<FlatFst<_>>`: the result is `Result<AnyFst>` of the same semiring.
#[macro_export]
macro_rules! map_fst {
    ($any:expr, $f:ident => $body:expr) => {
        match $any {
            $crate::fst::any::AnyFst::Standard($f) => $body.map($crate::fst::any::AnyFst::Standard),
            $crate::fst::any::AnyFst::Log($f) => $body.map($crate::fst::any::AnyFst::Log),
            $crate::fst::any::AnyFst::Log64($f) => $body.map($crate::fst::any::AnyFst::Log64),
        }
    };
}

/// As `map_fst!` for two operands of one semiring; operands of different semirings are an error that names `op`.
#[macro_export]
macro_rules! map_fst2 {
    ($op:expr, $a:expr, $b:expr, ($f:ident, $g:ident) => $body:expr) => {
        match ($a, $b) {
            ($crate::fst::any::AnyFst::Standard($f), $crate::fst::any::AnyFst::Standard($g)) => {
                $body.map($crate::fst::any::AnyFst::Standard)
            }
            ($crate::fst::any::AnyFst::Log($f), $crate::fst::any::AnyFst::Log($g)) => {
                $body.map($crate::fst::any::AnyFst::Log)
            }
            ($crate::fst::any::AnyFst::Log64($f), $crate::fst::any::AnyFst::Log64($g)) => {
                $body.map($crate::fst::any::AnyFst::Log64)
            }
            (a, b) => Err($crate::fst::any::mixed($op, a.arc_type(), b.arc_type())),
        }
    };
}

/// As `with_fst!` for two operands of one semiring and code that gives a `Result`; operands of different semirings are an
/// error that names `op`.
#[macro_export]
macro_rules! with_fst2 {
    ($op:expr, $a:expr, $b:expr, ($f:ident, $g:ident) => $body:expr) => {
        match ($a, $b) {
            ($crate::fst::any::AnyFst::Standard($f), $crate::fst::any::AnyFst::Standard($g)) => $body,
            ($crate::fst::any::AnyFst::Log($f), $crate::fst::any::AnyFst::Log($g)) => $body,
            ($crate::fst::any::AnyFst::Log64($f), $crate::fst::any::AnyFst::Log64($g)) => $body,
            (a, b) => Err($crate::fst::any::mixed($op, a.arc_type(), b.arc_type())),
        }
    };
}

/// The error for operands of different semirings.
pub fn mixed(op: &'static str, a: &str, b: &str) -> Error {
    Error::op(
        op,
        format!("the operands have different arc types, {a} and {b}; convert one (weft fst map --map-type to_log ...)"),
    )
}

impl AnyFst {
    /// No states, of the named arc type.
    pub fn empty(arc_type: &str) -> Result<Self> {
        match arc_type {
            "standard" | "tropical" => Ok(AnyFst::Standard(FlatFst::empty())),
            "log" => Ok(AnyFst::Log(FlatFst::empty())),
            "log64" => Ok(AnyFst::Log64(FlatFst::empty())),
            other => {
                Err(Error::usage(format!("arc type {other:?} is not known; it is one of standard, log and log64")))
            }
        }
    }
    pub fn arc_type(&self) -> &'static str {
        fn name<W: Weight>(_: &FlatFst<W>) -> &'static str {
            W::ARC_TYPE
        }
        with_fst!(self, f => name(f))
    }
    pub fn num_states(&self) -> usize {
        with_fst!(self, f => f.num_states())
    }
    pub fn num_arcs(&self) -> usize {
        with_fst!(self, f => f.num_arcs())
    }
    pub fn isyms(&self) -> Option<&Shared<SymbolTable>> {
        with_fst!(self, f => f.isyms.as_ref())
    }
    pub fn osyms(&self) -> Option<&Shared<SymbolTable>> {
        with_fst!(self, f => f.osyms.as_ref())
    }
    pub fn set_isyms(&mut self, table: Option<Shared<SymbolTable>>) {
        with_fst!(self, f => f.isyms = table)
    }
    pub fn set_osyms(&mut self, table: Option<Shared<SymbolTable>>) {
        with_fst!(self, f => f.osyms = table)
    }
}

impl From<FlatFst<Tropical>> for AnyFst {
    fn from(f: FlatFst<Tropical>) -> Self {
        AnyFst::Standard(f)
    }
}
impl From<FlatFst<Log>> for AnyFst {
    fn from(f: FlatFst<Log>) -> Self {
        AnyFst::Log(f)
    }
}
impl From<FlatFst<Log64>> for AnyFst {
    fn from(f: FlatFst<Log64>) -> Self {
        AnyFst::Log64(f)
    }
}
