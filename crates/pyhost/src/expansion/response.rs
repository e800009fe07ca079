//! One request EXPAND and its response, which arrives in parts.

use rhae_engine::StateKey;

use crate::expansion_wire::{ExpandRequest, ExpansionPart, MAX_EDGES, Record};
use crate::host::RequestError;
use crate::pool::Slot;
use crate::wire::{Reply, Request};

/// The failure of a request to a worker.
pub(super) enum ExpandFailure {
    Unsupported(String),
    Failed(String),
    /// The process ended for a reason that another process may not have: its copies used up the
    /// memory or the CPU time.
    Exhausted(String),
}

/// Sends a request EXPAND. Returns the records that arrived, also if the request fails later, and
/// the key of the start. If `should_continue` returns false after a part, the process is killed.
pub(super) fn request(
    slot: &Slot,
    request: &ExpandRequest<'_>,
    should_continue: &dyn Fn() -> bool,
) -> (Vec<Record>, Result<StateKey, ExpandFailure>) {
    let (body, states) = (request.to_bytes(), request.states);
    let actions: usize = states.iter().map(|state| state.actions.len()).sum();
    let mut received = Received {
        records: Vec::new(),
        key: 0,
        ended: 0,
        edges: 0,
        parts_left: actions + states.len() * (MAX_EDGES + 1) + 1,
        states: states.len(),
    };
    let expand = Request::Expand {
        play: slot.play,
        body: &body,
    };
    let answered = slot.host.request_parts(expand, &mut |reply| {
        let more = received.add(reply)?;
        if more && !should_continue() {
            return Err("the search was stopped".to_owned());
        }
        Ok(more)
    });
    let answered = match answered {
        Ok(()) => Ok(received.key),
        Err(RequestError::Unsupported(reason)) => Err(ExpandFailure::Unsupported(reason)),
        Err(RequestError::ProcessGone) => Err(ExpandFailure::Exhausted(
            "the game's process ended".to_owned(),
        )),
        Err(RequestError::PlayFailed(reason))
            if reason.starts_with("the game raised MemoryError")
                || reason.starts_with("the game's process ended") =>
        {
            Err(ExpandFailure::Exhausted(reason))
        }
        Err(RequestError::PlayFailed(reason)) => Err(ExpandFailure::Failed(reason)),
    };
    (received.records, answered)
}

/// The parts of a response that have arrived.
struct Received {
    records: Vec<Record>,
    key: StateKey,
    /// The number of states whose edges are complete.
    ended: usize,
    /// The number of edges of the state after these.
    edges: usize,
    /// The number of parts that the process may still send. A part shows progress, so there are at
    /// most as many as actions.
    parts_left: usize,
    /// The number of states in the request.
    states: usize,
}

impl Received {
    /// Adds a part and returns whether another follows. The error is a violation of the protocol.
    fn add(&mut self, reply: Reply) -> Result<bool, String> {
        let Reply::Expanded(ExpansionPart { last, key, records }) = reply else {
            return Err("expected an expansion".to_owned());
        };
        self.parts_left = self
            .parts_left
            .checked_sub(1)
            .ok_or("an expansion without end")?;
        self.key = key;
        for record in &records {
            if self.ended == self.states {
                return Err("an expansion of more states than requested".to_owned());
            }
            match record {
                Record::End(_) => (self.ended, self.edges) = (self.ended + 1, 0),
                Record::Edge { .. } if self.edges == MAX_EDGES => {
                    return Err("an expansion with too many edges".to_owned());
                }
                Record::Edge { .. } => self.edges += 1,
            }
        }
        self.records.extend(records);
        if last && self.ended < self.states {
            return Err("an expansion of fewer states than requested".to_owned());
        }
        Ok(!last)
    }
}
