//! What answers show of a sandbox.

use super::{Facts, Sandbox};
use crate::{
    wire::{
        catalog,
        envelope::Success,
        ids::rfc3339,
        view::{SandboxView, ingress_url_template},
    },
    world::{State, USER},
};

impl Sandbox {
    /// As answers show it, in this state.
    #[must_use]
    pub fn view(&self, state: State) -> SandboxView {
        self.facts.view(state)
    }

    /// The answer that shows it in this state.
    pub fn told(&mut self, state: State) -> Success {
        self.facts
            .say(state, |facts| Success::of(&facts.view(state)))
    }
}

impl Facts {
    fn view(&self, state: State) -> SandboxView {
        let made = &self.made;
        let shape = catalog::find_shape(&made.shape);
        SandboxView {
            id: self.id.clone(),
            status: state.name().to_owned(),
            ip: format!("10.0.{}.{}", self.number / 250, self.number % 250 + 2),
            vcpu: shape.map_or(1, |shape| shape.vcpu),
            mem_mib: shape.map_or(1024, |shape| shape.mem_mib),
            disk_mib: made.disk_mib,
            created_at: rfc3339(self.created_ms),
            ingress_enabled: made.ingress_enabled,
            ingress_url_template: made.ingress_enabled.then(|| ingress_url_template(&self.id)),
            name: made.name.clone(),
            running_at: self.running_ms.map(rfc3339),
            destroyed_at: self.destroyed_ms.map(rfc3339),
            spawn_ms: 12.5,
            shape: made.shape.clone(),
            rootfs: made.rootfs.clone(),
            region: catalog::REGION.to_owned(),
            egress: made.egress.clone(),
            envs: self.declared(),
            ssh_pubkeys: made.ssh_pubkeys.clone(),
            created_by: USER.to_owned(),
            bandwidth_quota_bytes: catalog::BANDWIDTH_BYTES,
            bandwidth_ingress_bytes: 0,
            paused_at: self.paused_ms.map(rfc3339),
            last_resumed_at: self.resumed_ms.map(rfc3339),
            forked_from: self.forked_from.clone(),
            auto_pause_after_seconds: made.auto_pause_after_seconds,
        }
    }
}
