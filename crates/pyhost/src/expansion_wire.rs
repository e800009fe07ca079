//! Encoding of the request EXPAND and decoding of its responses, as `docs/hosting.md` describes
//! them.
//!
//! A response is one or more messages EXPANDED. Each contains records: an edge, or the end of the
//! edges of a state. Everything that a process sends is untrusted and checked.

use rhae_engine::{Action, BulkOptions, ClickRule, Identity, Outcome, StateKey, TriedClicks};

use crate::wire::{action_bytes, action_from};

/// The version of the form of the two messages. A process that knows another version answers
/// IMPOSSIBLE.
const FORMAT: u8 = 2;
/// The maximum number of edges of a state: five simple actions, and the clicks that a 16-bit number
/// can count.
pub(crate) const MAX_EDGES: usize = 5 + u16::MAX as usize;
/// The size of an edge record without its kind.
const EDGE_BYTES: usize = 27;

/// One state to expand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateRequest {
    /// The copy from which the state is rebuilt; 0 is the start of the search.
    pub(crate) base: u32,
    /// Whether the process need not keep `base`.
    pub(crate) take: bool,
    /// The key that the state must have, otherwise the game is not deterministic.
    pub(crate) key: StateKey,
    /// The actions that lead from `base` to the state.
    pub(crate) actions: Vec<Action>,
}

/// The body of EXPAND after the number of the play.
pub(crate) struct ExpandRequest<'a> {
    pub(crate) options: &'a BulkOptions,
    /// Whether the process must copy the game, because it cannot restore the game's objects.
    pub(crate) copies: bool,
    /// The maximum number of copies that the process may keep.
    pub(crate) keep: u32,
    /// Copies that the process can forget.
    pub(crate) released: &'a [u32],
    pub(crate) states: &'a [StateRequest],
}

impl ExpandRequest<'_> {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let identity = match self.options.identity {
            Identity::Frame => 0,
            Identity::FrameAndHidden => 1,
            Identity::Deep => 2,
        };
        let clicks = match self.options.clicks {
            ClickRule::Listed => 0,
            ClickRule::Representative => 1,
            ClickRule::All => 2,
        };
        let count = |length: usize| {
            u32::try_from(length)
                .expect("a request is smaller than 4 GiB")
                .to_le_bytes()
        };
        let mut bytes = vec![FORMAT, identity, clicks, u8::from(self.copies)];
        bytes.extend(self.keep.to_le_bytes());
        bytes.extend(count(self.released.len()));
        for id in self.released {
            bytes.extend(id.to_le_bytes());
        }
        bytes.extend(count(self.states.len()));
        for state in self.states {
            bytes.extend(state.base.to_le_bytes());
            bytes.push(u8::from(state.take));
            bytes.extend(state.key.to_le_bytes());
            bytes.extend(count(state.actions.len()));
            bytes.extend(state.actions.iter().copied().flat_map(action_bytes));
        }
        bytes
    }
}

/// A message EXPANDED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExpansionPart {
    /// Whether no further message follows.
    pub(crate) last: bool,
    /// The key of the start of the search.
    pub(crate) key: StateKey,
    pub(crate) records: Vec<Record>,
}

/// A record of a message EXPANDED.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// The state has no further edges.
    End(TriedClicks),
    Edge {
        action: Action,
        outcome: Outcome,
        /// The number of cells with this result if all cells were clicked; 0 for other actions.
        cells: u16,
        key: StateKey,
        target: Target,
    },
}

/// What a process knows about the state that an edge leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The process has reported the key before.
    Known,
    /// The key is new; the process has not kept the state.
    New,
    /// The key is new, and the process has kept a copy with this number.
    Kept(u32),
}

impl ExpansionPart {
    /// Decodes the body of a message. The error describes the fault.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, String> {
        let (&last, rest) = body.split_first().ok_or("an empty expansion")?;
        let (key, mut rest) = rest
            .split_first_chunk::<16>()
            .ok_or("an expansion without the key of its start")?;
        let mut records = Vec::new();
        while let Some((&kind, after)) = rest.split_first() {
            let short = "an expansion that is cut off";
            rest = match kind {
                0 => {
                    let (&clicks, after) = after.split_first().ok_or(short)?;
                    records.push(Record::End(match clicks {
                        0 => TriedClicks::NotOffered,
                        1 => TriedClicks::Listed,
                        2 => TriedClicks::Representative,
                        3 => TriedClicks::All,
                        other => return Err(format!("an expansion with unknown clicks {other}")),
                    }));
                    after
                }
                1 => {
                    let (edge, after) = after.split_first_chunk::<EDGE_BYTES>().ok_or(short)?;
                    records.push(edge_record(edge)?);
                    after
                }
                other => return Err(format!("an expansion with an unknown record {other}")),
            };
        }
        Ok(Self {
            last: last != 0,
            key: u128::from_le_bytes(*key),
            records,
        })
    }
}

fn edge_record(edge: &[u8; EDGE_BYTES]) -> Result<Record, String> {
    let [id, x, y, outcome, low, high, target, rest @ ..] = *edge;
    let (key, copy) = rest
        .split_first_chunk::<16>()
        .ok_or("an expansion that is cut off")?;
    let copy = copy.first_chunk::<4>().copied().unwrap_or_default();
    let action = action_from([id, x, y])
        .filter(|action| !matches!(action, Action::Reset | Action::Action7))
        .ok_or_else(|| format!("an expansion with the invalid action {id}"))?;
    Ok(Record::Edge {
        action,
        outcome: match outcome {
            0 => Outcome::Continue,
            1 => Outcome::LevelWon,
            2 => Outcome::GameOver,
            other => return Err(format!("an expansion with the unknown outcome {other}")),
        },
        cells: u16::from_le_bytes([low, high]),
        key: u128::from_le_bytes(*key),
        target: match target {
            0 => Target::Known,
            1 => Target::New,
            2 => Target::Kept(u32::from_le_bytes(copy)),
            other => return Err(format!("an expansion with the unknown target {other}")),
        },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn requests_have_the_documented_encoding() {
        let options = BulkOptions {
            identity: Identity::FrameAndHidden,
            clicks: ClickRule::All,
            workers: 1,
        };
        let state = StateRequest {
            base: 7,
            take: true,
            key: 3,
            actions: vec![Action::Action2, Action::Action6 { x: 1, y: 2 }],
        };
        let request = ExpandRequest {
            options: &options,
            copies: true,
            keep: 9,
            released: &[5],
            states: &[state],
        };
        let expected = [
            &[2, 1, 2, 1, 9, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0][..],
            &[7, 0, 0, 0, 1],
            &3_u128.to_le_bytes(),
            &[2, 0, 0, 0, 2, 0, 0, 6, 1, 2],
        ];
        assert_eq!(request.to_bytes(), expected.concat());
    }

    #[test]
    fn invalid_expansions_are_rejected() {
        let edge = [
            &[1, 6, 3, 4, 0, 0, 1, 2][..],
            &7_u128.to_le_bytes(),
            &[8, 0, 0, 0],
        ]
        .concat();
        let body = [&[1][..], &5_u128.to_le_bytes(), &edge, &[0, 2]].concat();
        let part = ExpansionPart::parse(&body).unwrap();
        let expected = Record::Edge {
            action: Action::Action6 { x: 3, y: 4 },
            outcome: Outcome::Continue,
            cells: 256,
            key: 7,
            target: Target::Kept(8),
        };
        assert_eq!((part.last, part.key), (true, 5));
        assert_eq!(
            part.records,
            [expected, Record::End(TriedClicks::Representative)]
        );
        let rejected = |at: usize, to: u8| {
            let mut body = body.clone();
            body[at] = to;
            ExpansionPart::parse(&body).unwrap_err()
        };
        assert!(rejected(17, 2).contains("unknown record 2"));
        assert!(rejected(18, 7).contains("invalid action 7"));
        assert!(rejected(19, 64).contains("invalid action 6"));
        assert!(rejected(21, 3).contains("unknown outcome 3"));
        assert!(rejected(24, 3).contains("unknown target 3"));
        assert!(rejected(body.len() - 1, 4).contains("unknown clicks 4"));
        assert!(ExpansionPart::parse(&body[..36]).is_err());
        assert!(ExpansionPart::parse(&[]).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_expansions_do_not_panic(body in proptest::collection::vec(any::<u8>(), 0..90)) {
            drop(ExpansionPart::parse(&body));
        }
    }
}
