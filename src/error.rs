//! The one error type of the library.
//!
//! Everything that is read carries the file, and the line and column or the byte offset, where it went wrong, and says
//! what was expected there. Operations name themselves and say what to do next.

use std::path::Path;

/// Result of every fallible function of the library.
pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system said no.
    #[error("{file}: {source}")]
    Io { file: String, source: std::io::Error },
    /// A text file that does not say what it should.
    #[error("{file}:{line}:{column}: {message}")]
    Text { file: String, line: usize, column: usize, message: String },
    /// A binary file that does not say what it should.
    #[error("{file}: byte {offset}: {message}")]
    Binary { file: String, offset: u64, message: String },
    /// An operation whose input does not meet what it needs.
    #[error("{op}: {message}")]
    Op { op: &'static str, message: String },
    /// An operation stopped by a limit the user set or that protects memory.
    #[error("{op}: stopped at {limit}: {message}")]
    Limit { op: &'static str, limit: String, message: String },
    /// A wrong call: bad option values, files that contradict each other.
    #[error("{0}")]
    Usage(String),
}

impl Error {
    pub fn io(file: impl AsRef<Path>, source: std::io::Error) -> Self {
        Error::Io { file: file.as_ref().display().to_string(), source }
    }
    pub fn text(file: &str, line: usize, column: usize, message: impl Into<String>) -> Self {
        Error::Text { file: file.to_string(), line, column, message: message.into() }
    }
    /// At a part of a line: `part` is a slice of `text`, the line with this number.
    pub fn in_line(file: &str, line: usize, text: &str, part: &str, message: impl Into<String>) -> Self {
        let at = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
        let column = text.get(..at).map_or(at, |t| t.chars().count()) + 1;
        Error::text(file, line, column, message)
    }
    pub fn binary(file: &str, offset: u64, message: impl Into<String>) -> Self {
        Error::Binary { file: file.to_string(), offset, message: message.into() }
    }
    pub fn op(op: &'static str, message: impl Into<String>) -> Self {
        Error::Op { op, message: message.into() }
    }
    pub fn limit(op: &'static str, limit: impl Into<String>, message: impl Into<String>) -> Self {
        Error::Limit { op, limit: limit.into(), message: message.into() }
    }
    pub fn usage(message: impl Into<String>) -> Self {
        Error::Usage(message.into())
    }
    /// True if the reader of our output went away (`weft fst print a.fst | head`): not an error for the user.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
    }
}
