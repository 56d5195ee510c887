//! What several test files share.
#![allow(dead_code)] // each test uses a part

pub mod compare;
pub mod memory;
pub mod twin;
