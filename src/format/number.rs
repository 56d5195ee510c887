//! Numbers as OpenFst prints and reads them: C's `%g`, `Infinity`, `BadNumber`.

use std::fmt::Write;

use crate::fst::semiring::Weight;

/// Appends an integer.
#[inline]
pub fn write_int(out: &mut String, value: i64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut left = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if value < 0 {
        out.push('-');
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

const POWERS: [f64; 13] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12];

/// `write_g` for the values that nearly all weights have: f32 of usual size, with nine digits. False: not one of them.
///
/// An f32 has 24 bits and 10^12 has 28 beside its power of two, so that the product is exact in f64 and rounding it to an
/// integer gives the nine digits that C's exact conversion gives.
fn write_g9(out: &mut String, value: f64) -> bool {
    let v = value.abs();
    if !(1e-4..1e8).contains(&v) || (value as f32) as f64 != value {
        return false;
    }
    let mut exponent = if v >= 1.0 {
        POWERS[1..].iter().take_while(|&&p| v >= p).count() as i32
    } else {
        -(POWERS[1..5].iter().take_while(|&&p| v * p < 1.0).count() as i32) - 1
    };
    let mut scaled = (v * POWERS[(8 - exponent) as usize]).round_ties_even() as u64;
    if scaled == 1_000_000_000 {
        scaled = 100_000_000;
        exponent += 1;
    }
    // "0.000", nine digits and a point.
    let mut text = [b'0'; 16];
    let mut digits = [0u8; 9];
    for d in digits.iter_mut().rev() {
        *d = b'0' + (scaled % 10) as u8;
        scaled /= 10;
    }
    let len = digits.iter().rposition(|&d| d != b'0').unwrap_or(0) + 1;
    let end = if exponent < 0 {
        let from = (1 - exponent) as usize;
        text[1] = b'.';
        text[from..from + len].copy_from_slice(&digits[..len]);
        from + len
    } else {
        let whole = exponent as usize + 1;
        text[..whole].copy_from_slice(&digits[..whole]);
        if len > whole {
            text[whole] = b'.';
            text[whole + 1..len + 1].copy_from_slice(&digits[whole..len]);
            len + 1
        } else {
            whole
        }
    };
    if value < 0.0 {
        out.push('-');
    }
    out.push_str(std::str::from_utf8(&text[..end]).unwrap_or_default());
    true
}

/// As many digits as any number has; more would only be zeros.
const MOST_DIGITS: usize = 1100;

/// Appends `value` as C's `%.{precision}g` would, with OpenFst's names for what is not finite.
pub fn write_g(out: &mut String, value: f64, precision: usize) {
    if value.is_nan() {
        return out.push_str("BadNumber");
    }
    if value.is_infinite() {
        return out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    // Small whole numbers are the most frequent weights, and need no rounding.
    if value.trunc() == value && value.abs() < 1e6 && precision >= 6 && (value != 0.0 || value.is_sign_positive()) {
        return write_int(out, value as i64);
    }
    if precision == 9 && write_g9(out, value) {
        return;
    }
    write_exact(out, value, precision.clamp(1, MOST_DIGITS));
}

/// `write_g` for any finite value.
fn write_exact(out: &mut String, value: f64, precision: usize) {
    // Rust rounds the exact binary value correctly here, as glibc does.
    let sci = format!("{:.*e}", precision - 1, value);
    let Some((mantissa, exponent)) = sci.split_once('e') else { return out.push_str(&sci) };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(m) => ("-", m),
        None => ("", mantissa),
    };
    let trimmed = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    out.push_str(sign);
    if exponent < -4 || exponent >= precision as i32 {
        let _ = write!(out, "{trimmed}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
        return;
    }
    let (lead, rest) = trimmed.split_at(1);
    let rest = rest.strip_prefix('.').unwrap_or("");
    if exponent < 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
        out.push_str(lead);
        out.push_str(rest);
    } else {
        let whole = exponent as usize;
        out.push_str(lead);
        out.extend(rest.chars().chain(std::iter::repeat('0')).take(whole));
        if rest.len() > whole {
            out.push('.');
            out.push_str(&rest[whole..]);
        }
    }
}

/// C's three formats of a floating-point number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FloatFormat {
    E,
    F,
    #[default]
    G,
}

/// Appends `value` as C's `%.{precision}` with `e`, `f` or `g` would.
pub fn write_float(out: &mut String, value: f64, precision: usize, format: FloatFormat) {
    let precision = precision.min(MOST_DIGITS);
    match format {
        FloatFormat::E if value.is_finite() => {
            let sci = format!("{value:.precision$e}");
            let (mantissa, exponent) = sci.split_once('e').unwrap_or((&sci, "0"));
            let exponent: i32 = exponent.parse().unwrap_or(0);
            let _ = write!(out, "{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
        }
        FloatFormat::F if value.is_finite() => {
            let _ = write!(out, "{value:.precision$}");
        }
        _ => write_g(out, value, precision),
    }
}

/// Reads a weight of a semiring; the error says what is wrong with the text. A number that is too large does not become
/// infinite in silence.
pub fn weight_from<W: Weight>(text: &str) -> std::result::Result<W, String> {
    let none = || format!("expected a weight (a number or Infinity), found {text:?}");
    let value = parse_weight(text).ok_or_else(none)?;
    if overflows::<W>(value) {
        let hint = if value > 0.0 { "; write Infinity" } else { "" };
        return Err(format!("the weight {text} is too large for {} bits{hint}", 8 * W::BYTES));
    }
    let weight = W::from_f64(value);
    if weight.is_member() { Ok(weight) } else { Err(none()) }
}

/// True for a number that a weight of this semiring would make infinite.
pub fn overflows<W: Weight>(value: f64) -> bool {
    value.is_finite() && !W::from_f64(value).to_f64().is_finite()
}

/// Reads a weight's number. NaN and −∞ are no weights.
pub fn parse_weight(text: &str) -> Option<f64> {
    let value = match text {
        "Infinity" | "inf" => f64::INFINITY,
        _ => text.parse::<f64>().ok()?,
    };
    // A number with digits that comes out infinite was too large.
    let overflow = value.is_infinite() && text.bytes().any(|b| b.is_ascii_digit());
    (value > f64::NEG_INFINITY && !overflow).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn g(v: f64, p: usize) -> String {
        let mut s = String::new();
        write_g(&mut s, v, p);
        s
    }

    #[test]
    fn prints_as_c_does() {
        for (v, p, want) in [
            (0.1f32 as f64, 9, "0.100000001"),
            (0.0, 1, "0"),
            (0.0, 0, "0"),
            (10.0, 1, "1e+01"),
            (0.5, usize::MAX, "0.5"),
            (3.0, 9, "3"),
            (-0.0, 9, "-0"),
            (2.5, 9, "2.5"),
            (1e-5, 9, "1e-05"),
            (0.0001234, 9, "0.0001234"),
            (123456789.0, 9, "123456789"),
            (1234567890.0, 9, "1.23456789e+09"),
            (100.0, 2, "1e+02"),
            (0.99999999999, 9, "1"),
            (1e300, 9, "1e+300"),
            (12.5, 5, "12.5"),
            (f64::INFINITY, 9, "Infinity"),
        ] {
            assert_eq!(g(v, p), want);
        }
    }

    #[test]
    fn formats_as_c_does() {
        let show = |v: f64, p: usize, format| {
            let mut s = String::new();
            write_float(&mut s, v, p, format);
            s
        };
        assert_eq!(show(8.5, 5, FloatFormat::E), "8.50000e+00");
        assert_eq!(show(-1.25e-7, 2, FloatFormat::E), "-1.25e-07");
        assert_eq!(show(8.5, 3, FloatFormat::F), "8.500");
        assert_eq!(show(8.5, 0, FloatFormat::F), "8");
        assert_eq!(show(8.5, 5, FloatFormat::G), "8.5");
        assert_eq!(show(f64::INFINITY, 5, FloatFormat::E), "Infinity");
    }

    #[test]
    fn the_short_way_gives_the_same_digits() {
        // Every exponent, many mantissas, and the neighbours of powers of ten, where the number of digits changes.
        let mut values: Vec<f32> = (0..13u32)
            .flat_map(|e| {
                let p = 10f64.powi(e as i32 - 4) as f32;
                [p, f32::from_bits(p.to_bits() - 1), f32::from_bits(p.to_bits() + 1), p * 9.999_999, p * 0.5, p * 1.25]
            })
            .collect();
        values
            .extend((0..200_000u32).map(|i| f32::from_bits(0x3000_0000 + i.wrapping_mul(2_654_435_761) % 0x1f00_0000)));
        for v in values {
            let mut quick = String::new();
            if write_g9(&mut quick, v as f64) {
                let mut exact = String::new();
                write_exact(&mut exact, v as f64, 9);
                assert_eq!(quick, exact, "{v:e}");
            }
        }
        let mut s = String::new();
        for i in [0, -1, 7, 10, i64::MAX, i64::MIN] {
            write_int(&mut s, i);
            s.push(' ');
        }
        assert_eq!(s, "0 -1 7 10 9223372036854775807 -9223372036854775808 ");
    }

    #[test]
    fn weights_must_be_members() {
        assert_eq!(parse_weight("Infinity"), Some(f64::INFINITY));
        assert_eq!(parse_weight("-1.5e3"), Some(-1500.0));
        assert_eq!(parse_weight("nan"), None);
        assert_eq!(parse_weight("1e999"), None);
        assert_eq!(parse_weight("-Infinity"), None);
        assert_eq!(parse_weight("1.0x"), None);
    }
}
