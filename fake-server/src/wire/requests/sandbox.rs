//! Bodies about sandboxes.

use crate::wire::{Problem, catalog, fields::Fields, limits};
use serde_json::Value;

/// Seconds after which a quiet sandbox may pause itself.
const AUTO_PAUSE_SECONDS: std::ops::RangeInclusive<u64> = 60..=86_400;
/// Variables a sandbox may have.
const ENVS: usize = 64;
/// Bytes of one variable's value.
const ENV_BYTES: usize = 4096;
/// Bytes of all variables, names and values.
const ENVS_BYTES: usize = 64 << 10;

/// `POST /v1/sandboxes`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateSandbox {
    /// One of the catalog's.
    pub shape: String,
    /// One of the catalog's, or the default.
    pub rootfs: String,
    /// At most 22 characters.
    pub name: Option<String>,
    /// MiB.
    pub disk_mib: u64,
    /// Rules.
    pub egress: Vec<String>,
    /// Variables.
    pub envs: Vec<(String, String)>,
    /// SSH keys.
    pub ssh_pubkeys: Vec<String>,
    /// Reachable from outside.
    pub ingress_enabled: bool,
    /// Seconds.
    pub auto_pause_after_seconds: Option<u64>,
}

impl CreateSandbox {
    /// Reads and checks a body.
    ///
    /// # Errors
    /// `Invalid` with everything that is wrong.
    pub fn read(body: &[u8]) -> Result<Self, Problem> {
        let mut fields = Fields::read(body)?;
        let shape = fields.required_text("shape");
        if !shape.is_empty() && catalog::find_shape(&shape).is_none() {
            fields.wrong("shape", "is unknown: ask GET /v1/shapes");
        }
        let rootfs = fields.text("rootfs");
        if rootfs
            .as_deref()
            .is_some_and(|name| !catalog::ROOTFS.contains(&name))
        {
            fields.wrong("rootfs", "is unknown: ask GET /v1/rootfs");
        }
        let name = fields.text("name");
        if name
            .as_deref()
            .is_some_and(|name| name.is_empty() || name.chars().count() > limits::NAME_CHARS)
        {
            fields.wrong("name", "must have 1 to 22 characters");
        }
        let region = fields.text("region");
        if region.is_some_and(|region| region != catalog::REGION) {
            fields.wrong("region", "is not this server's: leave it out or say \"us\"");
        }
        if fields
            .value("bandwidth_quota_bytes")
            .is_some_and(|quota| quota != 0)
        {
            fields.wrong("bandwidth_quota_bytes", "cannot be set at creation");
        }
        for resource in ["disks", "networks"] {
            match fields.value(resource) {
                None => {}
                Some(Value::Array(list)) if list.is_empty() => {}
                Some(Value::Array(_)) => fields.wrong(resource, "names something that is not here"),
                Some(_) => fields.wrong(resource, "must be a list"),
            }
        }
        let disk_mib = fields.integer("disk_mib", 0..=1 << 20).unwrap_or(0);
        let egress = egress(&mut fields);
        let envs = envs(&mut fields);
        let request = Self {
            shape,
            rootfs: rootfs.unwrap_or_else(|| catalog::ROOTFS[0].to_owned()),
            name,
            disk_mib: if disk_mib == 0 {
                catalog::DISK_MIB
            } else {
                disk_mib
            },
            egress,
            envs,
            ssh_pubkeys: fields.texts("ssh_pubkeys").unwrap_or_default(),
            ingress_enabled: fields.flag("ingress_enabled").unwrap_or(false),
            auto_pause_after_seconds: fields
                .integer("auto_pause_after_seconds", AUTO_PAUSE_SECONDS),
        };
        fields.finish().map(|()| request)
    }
}

fn egress(fields: &mut Fields) -> Vec<String> {
    let rules = fields.texts("egress").unwrap_or_default();
    if rules
        .iter()
        .any(|rule| rule.is_empty() || rule.chars().any(char::is_whitespace))
    {
        fields.wrong(
            "egress",
            "has a bad rule: host, host:port, *.host, address, cidr or *",
        );
    }
    rules
}

fn envs(fields: &mut Fields) -> Vec<(String, String)> {
    let envs = fields.pairs("envs").unwrap_or_default();
    if envs.len() > ENVS {
        fields.wrong("envs", "has more than 64 variables");
    }
    if !envs.iter().all(|(key, _)| is_variable(key)) {
        fields.wrong("envs", "has a bad name: [A-Za-z_][A-Za-z0-9_]*");
    }
    if envs.iter().any(|(_, value)| value.len() > ENV_BYTES) {
        fields.wrong("envs", "has a value of more than 4096 bytes");
    }
    if envs
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum::<usize>()
        > ENVS_BYTES
    {
        fields.wrong("envs", "has more than 64 KiB in all");
    }
    envs
}

fn is_variable(name: &str) -> bool {
    name.bytes().enumerate().all(|(at, byte)| {
        byte == b'_' || byte.is_ascii_alphabetic() || (at > 0 && byte.is_ascii_digit())
    }) && !name.is_empty()
}

/// `PATCH /v1/sandboxes/{id}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchSandbox {
    /// Changed if there.
    pub ingress_enabled: Option<bool>,
    /// Changed if there; `Some(None)` switches it off.
    pub auto_pause_after_seconds: Option<Option<u64>>,
}

impl PatchSandbox {
    /// Reads and checks a body.
    ///
    /// # Errors
    /// `Invalid` with everything that is wrong.
    pub fn read(body: &[u8]) -> Result<Self, Problem> {
        let mut fields = Fields::read(body)?;
        let ingress_enabled = fields.flag("ingress_enabled");
        let seconds = fields.integer("auto_pause_after_seconds", AUTO_PAUSE_SECONDS);
        // One client always sends the switch, false when it sets a time.
        let off = fields.flag("disable_auto_pause") == Some(true);
        if off && seconds.is_some() {
            fields.wrong(
                "disable_auto_pause",
                "contradicts auto_pause_after_seconds: send one of them",
            );
        }
        fields.finish().map(|()| Self {
            ingress_enabled,
            auto_pause_after_seconds: if off { Some(None) } else { seconds.map(Some) },
        })
    }
}

/// `POST ../fork`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fork {
    /// The child stays paused.
    pub start_paused: bool,
    /// As the source's if absent.
    pub egress: Option<Vec<String>>,
    /// As the source's if absent.
    pub ssh_pubkeys: Option<Vec<String>>,
    /// As the source's if absent.
    pub ingress_enabled: Option<bool>,
    /// As the source's if absent.
    pub envs: Option<Vec<(String, String)>>,
}

impl Fork {
    /// Reads and checks a body, which may be left out.
    ///
    /// # Errors
    /// `Invalid` with everything that is wrong.
    pub fn read(body: &[u8]) -> Result<Self, Problem> {
        let mut fields = Fields::read_optional(body)?;
        let request = Self {
            start_paused: fields.flag("start_paused").unwrap_or(false),
            egress: fields.has("egress").then(|| egress(&mut fields)),
            ssh_pubkeys: fields.texts("ssh_pubkeys"),
            ingress_enabled: fields.flag("ingress_enabled"),
            envs: fields.has("envs").then(|| envs(&mut fields)),
        };
        fields.finish().map(|()| request)
    }
}

/// `POST ../resize` of a sandbox: the new disk, MiB.
///
/// # Errors
/// `Invalid` if it is missing or no size.
pub fn read_disk_mib(body: &[u8]) -> Result<u64, Problem> {
    let mut fields = Fields::read(body)?;
    if !fields.has("disk_mib") {
        fields.wrong("disk_mib", "is missing");
    }
    let size = fields.integer("disk_mib", 1..=1 << 20).unwrap_or(0);
    fields.finish().map(|()| size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint<T: std::fmt::Debug>(result: Result<T, Problem>) -> String {
        let problem = result.unwrap_err();
        assert_eq!(problem.status(), 400, "{problem}");
        problem.to_string()
    }

    #[test]
    fn a_create_needs_only_a_known_shape() {
        let request = CreateSandbox::read(br#"{"shape":"s-1vcpu-1gb","unknown":1}"#).unwrap();
        assert_eq!(request.rootfs, "devbox:1");
        assert_eq!(request.disk_mib, 10_240);
    }

    #[test]
    fn a_create_tells_all_that_is_wrong() {
        let text = complaint(CreateSandbox::read(
            br#"{"shape":"huge","rootfs":"x","name":"a name that is far too long","region":"mars",
                "envs":{"1A":"x"},"auto_pause_after_seconds":59,"bandwidth_quota_bytes":5,
                "disks":[{"disk_id":"d"}],"egress":["a b"],"ingress_enabled":"yes"}"#,
        ));
        for field in [
            "shape",
            "rootfs",
            "name",
            "region",
            "envs",
            "auto_pause_after_seconds",
            "bandwidth_quota_bytes",
            "disks",
            "egress",
            "ingress_enabled",
        ] {
            assert!(text.contains(&format!("{field}: ")), "{field} in {text}");
        }
    }

    #[test]
    fn env_limits_are_counted_in_bytes() {
        let body = |value: usize| {
            format!(
                r#"{{"shape":"s-1vcpu-1gb","envs":{{"A":"{}"}}}}"#,
                "x".repeat(value)
            )
        };
        assert!(CreateSandbox::read(body(4096).as_bytes()).is_ok());
        assert!(complaint(CreateSandbox::read(body(4097).as_bytes())).contains("4096"));
    }

    #[test]
    fn auto_pause_is_set_switched_off_or_left() {
        let read = |text: &str| PatchSandbox::read(text.as_bytes());
        let left = read("{}").unwrap();
        assert_eq!(left.auto_pause_after_seconds, None);
        let set = read(r#"{"auto_pause_after_seconds":60,"disable_auto_pause":false}"#).unwrap();
        assert_eq!(set.auto_pause_after_seconds, Some(Some(60)));
        let off = read(r#"{"disable_auto_pause":true}"#).unwrap();
        assert_eq!(off.auto_pause_after_seconds, Some(None));
        complaint(read(
            r#"{"auto_pause_after_seconds":60,"disable_auto_pause":true}"#,
        ));
    }
}
