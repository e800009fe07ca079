//! How long contact data is kept: 90 days after the last payment.

use rhae_protocol::ParticipantId;

use crate::ledger::PaymentStatus;
use crate::state::StudyState;

/// The time for which contact data is kept after the last payment.
pub const RETENTION_MS: u64 = 90 * 24 * 60 * 60 * 1000;

/// Returns whether the contact data of a person must be removed now. It was stored at `stored_ms`.
///
/// Contact data is needed while the person takes part or is owed something. After that it is kept for
/// 90 days after the last payment was sent or confirmed, or after its storage if nothing was paid.
pub fn contact_has_expired(
    state: &StudyState,
    participant: &ParticipantId,
    stored_ms: u64,
    now_ms: u64,
) -> bool {
    let takes_part = state
        .sittings_of(participant)
        .any(|(_, sitting)| sitting.is_open());
    let lines: Vec<_> = state
        .ledger
        .entries()
        .filter(|entry| entry.line.participant == *participant)
        .collect();
    let is_owed = lines.iter().any(|entry| entry.status == PaymentStatus::Due);
    let last_ms = lines.iter().map(|entry| entry.changed_ms).max();
    let last_ms = last_ms.unwrap_or(0).max(stored_ms);
    !takes_part && !is_owed && now_ms >= last_ms + RETENTION_MS
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{PaymentItem, PaymentLine};

    use super::*;

    const DAY_MS: u64 = 24 * 60 * 60 * 1000;

    #[test]
    fn contact_data_expires_90_days_after_the_last_payment() {
        let person = ParticipantId::from("p1");
        let mut state = StudyState::new("study".into(), String::new(), 7);
        let expired = |state: &StudyState, day: u64| {
            contact_has_expired(state, &person, 5 * DAY_MS, day * DAY_MS)
        };
        assert!(!expired(&state, 94) && expired(&state, 95));
        let line = PaymentLine {
            key: "fee".into(),
            participant: person.clone(),
            item: PaymentItem::Fee,
            amount_minor: 100,
            currency: "USD".to_owned(),
            note: String::new(),
        };
        state.ledger.add(line, 6 * DAY_MS);
        assert!(!expired(&state, 500));
        let batch = "b".to_owned();
        let sent = PaymentStatus::Sent { batch };
        state.ledger.set_status(&"fee".into(), sent, 30 * DAY_MS);
        assert!(!expired(&state, 119) && expired(&state, 120));
    }
}
