//! What went wrong in the browsers of the people.

use std::ops::AddAssign;

/// The number of incidents of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Incidents {
    pub(crate) double_clicks: u64,
    /// Connections that were lost after an action was sent.
    pub(crate) lost_responses: u64,
    pub(crate) reloads: u64,
    pub(crate) crashes: u64,
    pub(crate) pauses: u64,
    /// Responses that differ from what the rules of the environment say.
    pub(crate) wrong_responses: u64,
}

impl AddAssign for Incidents {
    fn add_assign(&mut self, other: Self) {
        self.double_clicks += other.double_clicks;
        self.lost_responses += other.lost_responses;
        self.reloads += other.reloads;
        self.crashes += other.crashes;
        self.pauses += other.pauses;
        self.wrong_responses += other.wrong_responses;
    }
}
