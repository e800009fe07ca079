//! Payment lists, and batches of payments.

use std::collections::BTreeMap;

use rhae_protocol::{ParticipantId, PaymentKey, StudyId, StudyRecord, amount_text};
use rhae_study::{Command, Moment, MoneyCommand, PaymentStatus, StudyState};

use crate::{Contact, StudyError, StudyService};

/// The field of a contact that names the person on a recruiting platform.
pub const EXTERNAL_ID: &str = "external_id";

/// What one participant is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPayment {
    pub participant: ParticipantId,
    pub amount_minor: i64,
    pub currency: String,
    pub keys: Vec<PaymentKey>,
}

/// Returns what each participant is owed. People whose open lines sum to nothing, or who owe
/// something, are left out until further lines change that.
pub fn open_payments(state: &StudyState) -> Vec<OpenPayment> {
    let list = state.ledger.payment_list().into_iter();
    let payments = list.filter_map(|(participant, lines)| {
        Some(OpenPayment {
            participant: participant.clone(),
            amount_minor: lines.iter().map(|line| line.amount_minor).sum(),
            currency: lines.first()?.currency.clone(),
            keys: lines.iter().map(|line| line.key.clone()).collect(),
        })
    });
    payments
        .filter(|payment| payment.amount_minor > 0)
        .collect()
}

/// Returns a payment list as CSV. Contacts add a column for each field that any of them has.
pub fn payment_csv(
    payments: &[OpenPayment],
    contacts: &BTreeMap<ParticipantId, Contact>,
) -> String {
    let mut fields: Vec<&String> = contacts.values().flat_map(BTreeMap::keys).collect();
    fields.sort_unstable();
    fields.dedup();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header = vec!["participant", "amount", "currency", "lines"];
    header.extend(fields.iter().map(|field| field.as_str()));
    let mut rows = vec![header.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for payment in payments {
        let contact = contacts.get(&payment.participant);
        let keys: Vec<&str> = payment.keys.iter().map(PaymentKey::as_str).collect();
        let mut row = vec![
            payment.participant.to_string(),
            amount_text(payment.amount_minor, &payment.currency),
            payment.currency.clone(),
            keys.join(" "),
        ];
        let value = |field: &&String| contact.and_then(|contact| contact.get(*field));
        row.extend(
            fields
                .iter()
                .map(|field| value(field).cloned().unwrap_or_default()),
        );
        rows.push(row);
    }
    for row in rows {
        writer
            .write_record(row)
            .expect("rows of equal length are written to memory");
    }
    let bytes = writer.into_inner().expect("memory needs no flush");
    String::from_utf8(bytes).expect("the cells are valid UTF-8")
}

/// Returns the lines that Prolific accepts for bulk payments: the external id and the amount.
/// Participants without an external id are returned separately.
pub fn prolific_lines(
    payments: &[OpenPayment],
    contacts: &BTreeMap<ParticipantId, Contact>,
) -> (String, Vec<ParticipantId>) {
    let (mut lines, mut unknown) = (String::new(), Vec::new());
    for payment in payments {
        let contact = contacts.get(&payment.participant);
        match contact.and_then(|contact| contact.get(EXTERNAL_ID)) {
            Some(id) => {
                let amount = amount_text(payment.amount_minor, &payment.currency);
                lines.push_str(&format!("{id},{amount}\n"));
            }
            None => unknown.push(payment.participant.clone()),
        }
    }
    (lines, unknown)
}

/// Marks everything that is owed as sent in a batch. Repeating a batch sends only what has become
/// due since.
///
/// # Errors
///
/// Returns [`StudyError`] if the study cannot be changed.
pub async fn send_batch(
    service: &StudyService,
    study: &StudyId,
    moment: Moment,
    batch: &str,
) -> Result<Vec<StudyRecord>, StudyError> {
    let payments = service
        .read(study, |study| open_payments(study.state()))
        .await?;
    let mut records = Vec::new();
    for key in payments.into_iter().flat_map(|payment| payment.keys) {
        let batch = batch.to_owned();
        let command = Command::Money(MoneyCommand::Send { key, batch });
        records.extend(service.execute(study, moment, &command).await?);
    }
    Ok(records)
}

/// Marks all payments of a batch as confirmed.
///
/// # Errors
///
/// Returns [`StudyError::Batch`] if nothing was sent in a batch of this name.
pub async fn confirm_batch(
    service: &StudyService,
    study: &StudyId,
    moment: Moment,
    batch: &str,
) -> Result<Vec<StudyRecord>, StudyError> {
    let keys = service
        .read(study, |study| batch_keys(study.state(), batch))
        .await?;
    if keys.is_empty() {
        return Err(StudyError::Batch(batch.to_owned()));
    }
    let mut records = Vec::new();
    for key in keys {
        let command = Command::Money(MoneyCommand::Confirm { key });
        records.extend(service.execute(study, moment, &command).await?);
    }
    Ok(records)
}

fn batch_keys(state: &StudyState, wanted: &str) -> Vec<PaymentKey> {
    let entries = state.ledger.entries().filter(|entry| match &entry.status {
        PaymentStatus::Due => false,
        PaymentStatus::Sent { batch } | PaymentStatus::Confirmed { batch } => batch == wanted,
    });
    entries.map(|entry| entry.line.key.clone()).collect()
}
