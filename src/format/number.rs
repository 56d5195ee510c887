//! Numbers as OpenFst prints and reads them: C's `%g`, `Infinity`, `BadNumber`.

use std::fmt::Write;

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
        let _ = write!(out, "{}", value as i64);
        return;
    }
    let precision = precision.max(1);
    // Rust rounds the exact binary value correctly here, as glibc does.
    let sci = format!("{:.*e}", precision - 1, value);
    let Some((mantissa, exponent)) = sci.split_once('e') else { return out.push_str(&sci) };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(m) => ("-", m),
        None => ("", mantissa),
    };
    let trimmed = mantissa.trim_end_matches('0').trim_end_matches('.');
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
    // As many digits as any number has; more would only be zeros.
    let precision = precision.min(1100);
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

/// Reads a weight's number. NaN and −∞ are no weights.
pub fn parse_weight(text: &str) -> Option<f64> {
    let value = match text {
        "Infinity" | "inf" => f64::INFINITY,
        _ => text.parse::<f64>().ok()?,
    };
    (value > f64::NEG_INFINITY).then_some(value)
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
    fn weights_must_be_members() {
        assert_eq!(parse_weight("Infinity"), Some(f64::INFINITY));
        assert_eq!(parse_weight("-1.5e3"), Some(-1500.0));
        assert_eq!(parse_weight("nan"), None);
        assert_eq!(parse_weight("-Infinity"), None);
        assert_eq!(parse_weight("1.0x"), None);
    }
}
