//! The engine: automata in flat arrays, their semirings, and one operation a file.
//!
//! Labels are integers here; symbol tables ride along and are not looked at, except to see that operands fit together.

pub mod any;
pub mod flat;
pub mod semiring;
pub mod symbols;

pub mod arcsort;
pub mod compose;
pub mod connect;
pub mod difference;
pub mod explain;
pub mod intersect;
pub mod shortestdistance;
pub mod statetable;
pub mod visit;
