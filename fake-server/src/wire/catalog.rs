//! What the fake offers: shapes, root file systems, one region.

use serde_json::{Value, json};

/// A shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its id.
    pub id: &'static str,
    /// Virtual CPUs, whole; a fraction is rounded up and capped by the quota.
    pub vcpu: u32,
    /// Percent of its CPUs it may use.
    pub cpu_quota_pct: u32,
    /// Memory, MiB.
    pub mem_mib: u32,
}

const fn shape(id: &'static str, vcpu: u32, cpu_quota_pct: u32, mem_mib: u32) -> Shape {
    Shape {
        id,
        vcpu,
        cpu_quota_pct,
        mem_mib,
    }
}

/// Every shape.
pub const SHAPES: &[Shape] = &[
    shape("s-0.25vcpu-512mb", 1, 25, 512),
    shape("s-0.5vcpu-1gb", 1, 50, 1024),
    shape("s-1vcpu-256mb", 1, 100, 256),
    shape("s-1vcpu-1gb", 1, 100, 1024),
    shape("s-1vcpu-2gb", 1, 100, 2048),
    shape("s-2vcpu-2gb", 2, 100, 2048),
    shape("s-2vcpu-4gb", 2, 100, 4096),
    shape("s-4vcpu-4gb", 4, 100, 4096),
    shape("s-4vcpu-8gb", 4, 100, 8192),
    shape("s-8vcpu-8gb", 8, 100, 8192),
    shape("s-8vcpu-16gb", 8, 100, 16384),
];

/// Every root file system; the first is the default.
pub const ROOTFS: &[&str] = &["devbox:1", "ubuntu:26.04", "debian:13", "alpine:3.20"];

/// The region this server stands for.
pub const REGION: &str = "us";

/// Disk of a sandbox that asks for none, MiB.
pub const DISK_MIB: u64 = 10_240;

/// Bandwidth of a sandbox, bytes.
pub const BANDWIDTH_BYTES: i64 = 5 << 30;

/// The shape with this id.
#[must_use]
pub fn find_shape(id: &str) -> Option<Shape> {
    SHAPES.iter().copied().find(|shape| shape.id == id)
}

/// Rows of `GET /v1/shapes`.
#[must_use]
pub fn shape_rows() -> Vec<Value> {
    SHAPES
        .iter()
        .map(|shape| {
            json!({
                "id": shape.id,
                "vcpu": shape.vcpu,
                "cpu_quota_pct": shape.cpu_quota_pct,
                "mem_mib": shape.mem_mib,
                "default_disk_mib": DISK_MIB,
            })
        })
        .collect()
}

/// Data of `GET /v1/rootfs`.
#[must_use]
pub fn rootfs() -> Value {
    json!({
        "rootfs": ROOTFS,
        "default": ROOTFS[0],
        "entries": ROOTFS
            .iter()
            .map(|name| json!({ "name": name, "description": "scripted, never booted", "deprecated": false }))
            .collect::<Vec<_>>(),
    })
}
