//! The ledger: what participants are owed and have been paid, in minor units.
//!
//! *Invariant:* lines are only added, and the status of a line only advances from due to sent to
//! confirmed. Exclusions do not change the ledger.

use std::collections::BTreeMap;

use rhae_protocol::{ParticipantId, PaymentItem, PaymentKey, PaymentLine, PaymentState};

/// All lines of a study by their idempotency keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: BTreeMap<PaymentKey, LedgerEntry>,
}

/// A line with its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub line: PaymentLine,
    pub status: PaymentStatus,
    pub due_ms: u64,
    /// The time of the last change of the status.
    pub changed_ms: u64,
}

/// The status of a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentStatus {
    Due,
    Sent { batch: String },
    Confirmed { batch: String },
}

impl PaymentStatus {
    /// Returns how far the payment is, without its batch.
    pub const fn state(&self) -> PaymentState {
        match self {
            Self::Due => PaymentState::Due,
            Self::Sent { .. } => PaymentState::Sent,
            Self::Confirmed { .. } => PaymentState::Confirmed,
        }
    }
}

/// The sums of a ledger by status, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerTotals {
    pub due_minor: i64,
    pub sent_minor: i64,
    pub confirmed_minor: i64,
}

impl LedgerTotals {
    /// Returns the sum of all lines.
    pub const fn total_minor(self) -> i64 {
        self.due_minor + self.sent_minor + self.confirmed_minor
    }
}

impl Ledger {
    pub fn entries(&self) -> impl Iterator<Item = &LedgerEntry> {
        self.entries.values()
    }

    pub fn get(&self, key: &PaymentKey) -> Option<&LedgerEntry> {
        self.entries.get(key)
    }

    /// Returns the sums by status.
    pub fn totals(&self) -> LedgerTotals {
        let mut totals = LedgerTotals::default();
        for entry in self.entries.values() {
            let sum = match entry.status {
                PaymentStatus::Due => &mut totals.due_minor,
                PaymentStatus::Sent { .. } => &mut totals.sent_minor,
                PaymentStatus::Confirmed { .. } => &mut totals.confirmed_minor,
            };
            *sum += entry.line.amount_minor;
        }
        totals
    }

    /// Returns what a participant is owed or has been paid in all.
    pub fn total_of(&self, participant: &ParticipantId) -> i64 {
        self.entries
            .values()
            .filter(|entry| entry.line.participant == *participant)
            .map(|entry| entry.line.amount_minor)
            .sum()
    }

    /// Returns the open lines of each participant: the payment list. The sum of a participant may
    /// contain negative adjustments.
    pub fn payment_list(&self) -> BTreeMap<&ParticipantId, Vec<&PaymentLine>> {
        let mut list: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let due = self
            .entries
            .values()
            .filter(|entry| entry.status == PaymentStatus::Due);
        for entry in due {
            list.entry(&entry.line.participant)
                .or_default()
                .push(&entry.line);
        }
        list
    }

    /// Returns the sum of one item over all participants.
    pub fn total_of_item(&self, item: PaymentItem) -> i64 {
        let lines = self.entries.values().map(|entry| &entry.line);
        lines
            .filter(|line| line.item == item)
            .map(|line| line.amount_minor)
            .sum()
    }

    pub(crate) fn add(&mut self, line: PaymentLine, due_ms: u64) {
        let entry = LedgerEntry {
            line,
            status: PaymentStatus::Due,
            due_ms,
            changed_ms: due_ms,
        };
        self.entries.entry(entry.line.key.clone()).or_insert(entry);
    }

    pub(crate) fn set_status(&mut self, key: &PaymentKey, status: PaymentStatus, at_ms: u64) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.status = status;
            entry.changed_ms = at_ms;
        }
    }
}
