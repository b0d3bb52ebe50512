//! Parameters that change while a run goes on.

use super::Switch;
use crate::aqm::AqmPolicy;
use crate::catalogue::Adoption;
use crate::sharing::SharingPolicy;
use spillway_engine::Time;

impl Switch {
    /// The sharing policy takes over the parameters of `fresh`, a policy of the same kind that was
    /// made for this switch.
    pub fn change_sharing(&mut self, now: Time, port: Option<u32>, fresh: SharingPolicy) {
        let adoption = Adoption { now, port, buffer: &self.buffer };
        self.sharing.adopt(fresh, &adoption);
        self.ask_if_needed();
    }

    /// The AQM takes over the parameters of `fresh`, an AQM of the same kind that was made for this
    /// switch.
    pub fn change_aqm(&mut self, now: Time, port: Option<u32>, fresh: AqmPolicy) {
        let adoption = Adoption { now, port, buffer: &self.buffer };
        self.aqm.adopt(fresh, &adoption);
        self.ask_if_needed();
    }
}
