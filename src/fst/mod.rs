//! The engine: automata in flat arrays, their semirings, and one operation a file.
//!
//! Labels are integers here; symbol tables ride along and are not looked at, except to see that operands fit together.

pub mod any;
pub mod flat;
pub mod semiring;
pub mod symbols;

pub mod arcsort;
pub mod closure;
pub mod compose;
pub mod concat;
pub mod connect;
pub mod determinize;
pub mod difference;
pub mod disambiguate;
pub mod encode;
pub mod epsnormalize;
pub mod equal;
pub mod equivalent;
pub mod explain;
pub mod gallic;
pub(crate) mod heap;
pub mod intersect;
pub mod invert;
pub mod isomorphic;
pub mod map;
pub mod minimize;
pub mod project;
pub mod properties;
pub mod prune;
pub mod push;
pub(crate) mod queues;
pub mod randgen;
pub mod relabel;
pub mod replace;
pub mod reverse;
pub mod reweight;
pub mod rmepsilon;
pub mod shortestdistance;
pub mod shortestpath;
pub mod statetable;
pub(crate) mod stdsort;
pub mod strings;
pub mod synchronize;
#[cfg(test)]
pub(crate) mod testing;
pub mod topsort;
pub mod union;
pub mod visit;
pub(crate) mod walks;
