//! Sizes of memory as users write them.

use crate::error::{Error, Result};

/// Bytes of `500M`, `4G`, `50%` (of the machine's memory), or of a plain number.
pub fn memory_size(option: &str, text: &str) -> Result<usize> {
    let wrong = || Error::usage(format!("{option} {text}: expected a size such as 500M, 4G or 50%"));
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let factor = match unit.trim_end_matches(['b', 'B']) {
        "" => 1.0,
        "K" | "k" => 1024.0,
        "M" | "m" => 1024f64.powi(2),
        "G" | "g" => 1024f64.powi(3),
        "T" | "t" => 1024f64.powi(4),
        "%" => physical() as f64 / 100.0,
        _ => return Err(wrong()),
    };
    Ok((number * factor) as usize)
}

/// The memory of the machine that is free for us, or a guess.
fn physical() -> usize {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = info.lines().find_map(|l| l.strip_prefix("MemAvailable:")?.split_whitespace().next()?.parse().ok());
    available.map_or(2 << 30, |kilobytes: usize| kilobytes << 10)
}
