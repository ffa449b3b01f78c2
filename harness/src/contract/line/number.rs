//! Whole numbers read from their digits, never through a float.

/// What a JSON number is as a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// Digits only, perhaps with a minus: exact.
    Plain(i128),
    /// Written with a fraction or an exponent but whole in value (`5.0`, `5e0`).
    Written(i128),
    /// A fraction.
    Fraction,
    /// Whole, but beyond any use (more than 30 digits).
    Beyond,
}

/// Reads the text of a JSON number.
#[must_use]
pub fn whole(text: &str) -> Whole {
    let (negative, digits) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (integer, fraction) = match mantissa.split_once('.') {
        Some((integer, fraction)) => (integer, Some(fraction)),
        None => (mantissa, None),
    };
    let plain = exponent.is_none() && fraction.is_none();
    let fraction = fraction.unwrap_or("").trim_end_matches('0');
    let all = format!("{integer}{fraction}");
    let significant = all.trim_start_matches('0');
    if significant.is_empty() {
        return made(plain, 0);
    }
    let exponent = exponent.map_or(Ok(0), |text| text.trim_start_matches('+').parse::<i64>());
    let Ok(exponent) = exponent else {
        return Whole::Beyond;
    };
    // The value is `significant` times ten to this power.
    let power = exponent.saturating_sub(i64::try_from(fraction.len()).unwrap_or(i64::MAX));
    let (significant, power) = if power < 0 {
        let trimmed = significant.trim_end_matches('0');
        let cut = i64::try_from(significant.len() - trimmed.len()).unwrap_or(i64::MAX);
        if cut.saturating_add(power) < 0 {
            return Whole::Fraction;
        }
        (trimmed, cut + power)
    } else {
        (significant, power)
    };
    if i64::try_from(significant.len())
        .unwrap_or(i64::MAX)
        .saturating_add(power)
        > 30
    {
        return Whole::Beyond;
    }
    let zeros = "0".repeat(usize::try_from(power).unwrap_or(0));
    match format!("{significant}{zeros}").parse::<i128>() {
        Ok(value) => made(plain, if negative { -value } else { value }),
        Err(_) => Whole::Beyond,
    }
}

const fn made(plain: bool, value: i128) -> Whole {
    if plain {
        Whole::Plain(value)
    } else {
        Whole::Written(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_exact_and_writing_is_told_apart() {
        for (text, expected) in [
            ("0", Whole::Plain(0)),
            ("-0", Whole::Plain(0)),
            ("5", Whole::Plain(5)),
            ("-5", Whole::Plain(-5)),
            ("9007199254740993", Whole::Plain(9_007_199_254_740_993)),
            (
                "18446744073709551616",
                Whole::Plain(18_446_744_073_709_551_616),
            ),
            ("5.0", Whole::Written(5)),
            ("5e0", Whole::Written(5)),
            ("0.5e1", Whole::Written(5)),
            ("50e-1", Whole::Written(5)),
            ("5E+2", Whole::Written(500)),
            ("5.5", Whole::Fraction),
            ("5e-1", Whole::Fraction),
            ("0.0", Whole::Written(0)),
            ("5.0000000000000000001", Whole::Fraction),
            ("1e400", Whole::Beyond),
            ("1e99999999999999999999", Whole::Beyond),
        ] {
            assert_eq!(whole(text), expected, "{text}");
        }
    }
}
