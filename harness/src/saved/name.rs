//! The name of a saved trial's file: the case's id, as far as file systems bear it.

use std::fmt::Write as _;

/// Bytes of a file's name before its ending; most file systems allow 255.
const LONGEST: usize = 200;

/// The path of a case's file within its folder: `area/name[how=fin].json`. Two ids never share one.
#[must_use]
pub fn file_name(id: &str) -> String {
    // An instance's label may hold anything, a scenario's id only words.
    let (scenario, instance) = id.split_at(id.find('[').unwrap_or(id.len()));
    let (folder, name) = match scenario.rsplit_once('/') {
        Some((folder, name)) => (
            folder.split('/').map(borne).collect::<Vec<_>>().join("/") + "/",
            name,
        ),
        None => (String::new(), scenario),
    };
    format!(
        "{folder}{}.json",
        shortened(&borne(&format!("{name}{instance}")))
    )
}

/// What a file's name bears everywhere; the rest as in a URL. No name begins with a dot.
fn borne(text: &str) -> String {
    let mut name = String::new();
    for (at, byte) in text.bytes().enumerate() {
        if byte.is_ascii_alphanumeric() || b"-_=,[]+".contains(&byte) || byte == b'.' && at > 0 {
            name.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(name, "%{byte:02x}");
        }
    }
    name
}

/// A name that is too long loses its end, and says by a checksum (FNV-1a, 64 bits) which it was.
fn shortened(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let sum = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{}~{sum:016x}", &name[..LONGEST - 17])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_as_its_case() {
        for (id, name) in [
            ("stream/healthy-follow", "stream/healthy-follow.json"),
            (
                "stream/drop[how=fin,at=2]",
                "stream/drop[how=fin,at=2].json",
            ),
            ("outage", "outage.json"),
            ("a/b/c", "a/b/c.json"),
            ("a/b[x=../é \"]", "a/b[x=..%2f%c3%a9%20%22].json"),
            ("../.x", "%2e./%2ex.json"),
        ] {
            assert_eq!(file_name(id), name);
        }
    }

    #[test]
    fn long_names_are_cut_and_stay_different() {
        let long = |end: &str| file_name(&format!("a/b[x={}{end}]", "é".repeat(300)));
        assert!(long("1").len() <= "a/".len() + LONGEST + ".json".len());
        assert_ne!(long("1"), long("2"));
    }
}
