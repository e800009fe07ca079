//! The play clock of a sitting, and the limits that it enforces.
//!
//! The clock starts with the first frame of the first environment. It stops
//!
//! * during pauses, up to the allowed total;
//! * in an outage: after a time without contact, up to the allowed total, after which the sitting is
//!   lost. While the page is hidden, missing contact does not stop the clock.
//!
//! An attempt's clock is the sitting's clock minus its value at the attempt's first frame.
//!
//! *Invariant:* the clock depends only on the event log and on the times that the caller passes in,
//! and it never runs backwards.

use rhae_protocol::{AttemptOutcome, SittingEndReason, StudyLimits};

use crate::state::Sitting;

/// The server's clock at a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub now_ms: u64,
    /// The last contact with the participant that the server remembers. Contacts are written to the
    /// log only once a minute, so this may be later than the last one in the log.
    pub contact_ms: Option<u64>,
}

impl Moment {
    /// Creates a moment at which the server remembers no contact beyond the log.
    pub const fn at(now_ms: u64) -> Self {
        Self {
            now_ms,
            contact_ms: None,
        }
    }
}

/// The clock of a sitting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayClock {
    /// The time of the first frame; `None` before it.
    pub first_frame_ms: Option<u64>,
    /// The time for which the clock was stopped by finished pauses and outages.
    stopped_ms: u64,
    pub paused_since_ms: Option<u64>,
    pub pause_used_ms: u64,
    pub outage_used_ms: u64,
    /// The finished outages: when each ended, and for how long it stopped the clock.
    outages: Vec<(u64, u64)>,
    pub last_contact_ms: u64,
    pub hidden: bool,
}

/// The position of a sitting relative to its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The sitting's clock.
    pub sitting_ms: u64,
    /// The attempt's clock; `None` without an attempt in progress.
    pub attempt_ms: Option<u64>,
    /// The play time that is left in the sitting.
    pub remaining_ms: u64,
    /// Whether the clock is stopped by a pause or an outage.
    pub stopped: bool,
    pub limit: Option<Limit>,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The hard limit of the attempt.
    Attempt,
    /// The play time of the sitting.
    Sitting,
    /// The total of outages.
    Contact,
}

impl Limit {
    /// Returns the outcome of an attempt that the limit ends.
    pub const fn outcome(self) -> AttemptOutcome {
        match self {
            Self::Attempt => AttemptOutcome::HardLimit,
            Self::Sitting => AttemptOutcome::SittingEnd,
            Self::Contact => AttemptOutcome::Lost,
        }
    }

    /// Returns why the limit ends the sitting; `None` if the sitting continues.
    pub const fn sitting_end(self) -> Option<SittingEndReason> {
        match self {
            Self::Attempt => None,
            Self::Sitting => Some(SittingEndReason::TimeUp),
            Self::Contact => Some(SittingEndReason::Lost),
        }
    }
}

/// Reads the clock of a sitting.
///
/// If several limits were passed, the one that was reached first counts. A hard limit and the end of
/// the sitting at the same instant are a hard limit, because the participant had all the time.
pub fn read_clock(sitting: &Sitting, limits: &StudyLimits, moment: Moment) -> ClockReading {
    let clock = &sitting.clock;
    let lost_ms = clock.lost_ms(limits, moment);
    let is_lost = moment.now_ms >= lost_ms;
    let sitting_ms = clock.elapsed_ms(limits, moment, moment.now_ms.min(lost_ms));
    let limit_ms = millis(limits.sitting_s) + sitting.extension_ms;
    let attempt = sitting.open_attempt();
    let start_ms = attempt.map(|(_, _, attempt)| attempt.start_clock_ms);
    let hard_ms = start_ms.map(|start| start + millis(limits.hard_s));
    let limit = if hard_ms.is_some_and(|hard| sitting_ms >= hard && hard <= limit_ms) {
        Some(Limit::Attempt)
    } else if clock.first_frame_ms.is_some() && sitting_ms >= limit_ms {
        Some(Limit::Sitting)
    } else {
        is_lost.then_some(Limit::Contact)
    };
    // A clock that is read late does not pass the limit.
    let sitting_ms = match limit {
        Some(Limit::Attempt) => hard_ms.unwrap_or(sitting_ms),
        Some(Limit::Sitting) => limit_ms,
        _ => sitting_ms,
    };
    ClockReading {
        sitting_ms,
        attempt_ms: start_ms.map(|start| sitting_ms.saturating_sub(start)),
        remaining_ms: limit_ms.saturating_sub(sitting_ms),
        stopped: clock.is_stopped(limits, moment),
        limit,
    }
}

pub(crate) const fn millis(seconds: u64) -> u64 {
    seconds * 1000
}

impl PlayClock {
    pub(crate) const fn new(at_ms: u64) -> Self {
        Self {
            first_frame_ms: None,
            stopped_ms: 0,
            paused_since_ms: None,
            pause_used_ms: 0,
            outage_used_ms: 0,
            outages: Vec::new(),
            last_contact_ms: at_ms,
            hidden: false,
        }
    }

    /// Returns the time from which missing contact counts: the last contact, or the end of a pause
    /// whose allowed time is used up.
    pub(crate) fn contact_base_ms(&self, limits: &StudyLimits, moment: Moment) -> u64 {
        let contact = self.last_contact_ms.max(moment.contact_ms.unwrap_or(0));
        match self.paused_since_ms {
            Some(since) => contact.max(since + self.pause_left_ms(limits)),
            None => contact,
        }
    }

    const fn pause_left_ms(&self, limits: &StudyLimits) -> u64 {
        millis(limits.pause_total_s).saturating_sub(self.pause_used_ms)
    }

    /// Returns the time at which the sitting is lost if there is no contact before; `u64::MAX` while
    /// the page is hidden, and before the first frame.
    fn lost_ms(&self, limits: &StudyLimits, moment: Moment) -> u64 {
        if self.hidden || self.first_frame_ms.is_none() {
            return u64::MAX;
        }
        let outage_left = millis(limits.outage_total_s).saturating_sub(self.outage_used_ms);
        self.contact_base_ms(limits, moment) + millis(limits.outage_grace_s) + outage_left
    }

    /// Returns the clock at `now_ms`.
    fn elapsed_ms(&self, limits: &StudyLimits, moment: Moment, now_ms: u64) -> u64 {
        let Some(first) = self.first_frame_ms else {
            return 0;
        };
        let paused = self.paused_since_ms.map_or(0, |since| {
            now_ms.saturating_sub(since).min(self.pause_left_ms(limits))
        });
        let outage = self.outage_ms(limits, moment, now_ms);
        now_ms.saturating_sub(first + self.stopped_ms + paused + outage)
    }

    /// Returns for how long the current outage has stopped the clock at `now_ms`.
    pub(crate) fn outage_ms(&self, limits: &StudyLimits, moment: Moment, now_ms: u64) -> u64 {
        if self.hidden || self.first_frame_ms.is_none() {
            return 0;
        }
        let stops_ms = self.contact_base_ms(limits, moment) + millis(limits.outage_grace_s);
        now_ms.saturating_sub(stops_ms)
    }

    /// Returns for how long outages that ended after `from_ms` and not after `until_ms` have stopped
    /// the clock.
    pub fn outages_between_ms(&self, from_ms: u64, until_ms: u64) -> u64 {
        let within = |(ended_ms, _): &&(u64, u64)| (from_ms + 1..=until_ms).contains(ended_ms);
        let outages = self.outages.iter().filter(within);
        outages.map(|(_, stopped_ms)| stopped_ms).sum()
    }

    fn is_stopped(&self, limits: &StudyLimits, moment: Moment) -> bool {
        let paused = self
            .paused_since_ms
            .is_some_and(|since| moment.now_ms < since + self.pause_left_ms(limits));
        paused || self.outage_ms(limits, moment, moment.now_ms) > 0
    }

    /// Returns the clock at a contact outside a pause.
    pub(crate) fn at_contact(&self, at_ms: u64) -> u64 {
        let first = self.first_frame_ms.unwrap_or(at_ms);
        at_ms.saturating_sub(first + self.stopped_ms)
    }

    pub(crate) fn contact(&mut self, at_ms: u64) {
        self.last_contact_ms = self.last_contact_ms.max(at_ms);
    }

    pub(crate) fn start(&mut self, at_ms: u64) {
        self.first_frame_ms.get_or_insert(at_ms);
        self.contact(at_ms);
    }

    /// Ends an outage that began with the last contact at `from_ms`.
    pub(crate) fn end_outage(&mut self, limits: &StudyLimits, from_ms: u64, at_ms: u64) {
        let stopped = at_ms.saturating_sub(from_ms + millis(limits.outage_grace_s));
        self.outage_used_ms += stopped;
        self.outages.push((at_ms, stopped));
        self.stopped_ms += stopped;
        self.contact(at_ms);
    }

    pub(crate) fn end_pause(&mut self, limits: &StudyLimits, at_ms: u64) {
        if let Some(since) = self.paused_since_ms.take() {
            let used = at_ms.saturating_sub(since).min(self.pause_left_ms(limits));
            self.pause_used_ms += used;
            // Before the first frame, the clock does not run, so there is nothing to stop.
            if self.first_frame_ms.is_some() {
                self.stopped_ms += used;
            }
        }
        self.contact(at_ms);
    }
}

#[cfg(test)]
mod tests;
