//! Ids and times: derived, never drawn, so that the same trial has the same ones.

/// Whether an id may stand in a URL: `[A-Za-z0-9_-]{1,200}`, the rule of the strictest client.
#[must_use]
pub fn is_plain(id: &str) -> bool {
    (1..=200).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The `n`th id after `first`, in the shape `prefix` and a ULID.
#[must_use]
pub fn derived(prefix: &str, first: &str, n: u64) -> String {
    // FNV-1a over the name, then splitmix64: no randomness, but unlike neighbours.
    let seed = first.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    let mut state = seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    ulid(prefix, (u128::from(next()) << 64) | u128::from(next()))
}

fn ulid(prefix: &str, value: u128) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut id = prefix.to_owned();
    // 26 letters of 5 bits; the first one carries only the top 3 of 128.
    for place in (0..26).rev() {
        let letter = (value >> (place * 5)) & 31;
        id.push(char::from(LETTERS[letter as usize]));
    }
    id
}

/// RFC 3339 of a moment of the trial; every trial begins at the same made-up hour, so that answers repeat.
#[must_use]
pub fn rfc3339(now_ms: u64) -> String {
    // 2026-01-01T00:00:00Z in days since 1970.
    const FIRST_DAY: u64 = 20_454;
    let (seconds, millis) = (now_ms / 1000, now_ms % 1000);
    let (year, month, day) = civil(FIRST_DAY + seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    // Every view holds a few of these; the formatting machinery would be a tenth of a small answer.
    let mut text = String::with_capacity("2026-01-01T00:00:00.000Z".len());
    for (number, digits, after) in [
        (year, 4, '-'),
        (month, 2, '-'),
        (day, 2, 'T'),
        (hour, 2, ':'),
        (minute, 2, ':'),
        (second, 2, '.'),
        (millis, 3, 'Z'),
    ] {
        push_digits(&mut text, number, digits);
        text.push(after);
    }
    text
}

/// The last so many digits of a number, with leading zeros.
fn push_digits(text: &mut String, number: u64, digits: u32) {
    for place in (0..digits).rev() {
        let digit = number / 10_u64.pow(place) % 10;
        // A digit fits in a byte.
        text.push(char::from(b'0' + digit as u8));
    }
}

/// Year, month and day of a day since 1970 (Howard Hinnant's algorithm, for days after 1970 only).
const fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_are_plain_repeat_and_differ() {
        let ids: Vec<String> = (1..100).map(|n| derived("sb-", "first", n)).collect();
        assert!(ids.iter().all(|id| is_plain(id) && id.len() == 29));
        assert_eq!(ids[0], derived("sb-", "first", 1));
        let mut unique = ids.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), ids.len());
    }

    #[test]
    fn ids_that_would_break_a_url_are_not_plain() {
        for id in ["", "a/b", "a b", "ä", "a.b", &"x".repeat(201)] {
            assert!(!is_plain(id), "{id:?}");
        }
        assert!(is_plain(&"x".repeat(200)));
    }

    #[test]
    fn times_roll_over_days_months_and_leap_years() {
        assert_eq!(rfc3339(0), "2026-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(86_399_999), "2026-01-01T23:59:59.999Z");
        assert_eq!(rfc3339(31 * 86_400_000), "2026-02-01T00:00:00.000Z");
        assert_eq!(
            rfc3339((365 + 365 + 31 + 28) * 86_400_000),
            "2028-02-29T00:00:00.000Z"
        );
    }
}
