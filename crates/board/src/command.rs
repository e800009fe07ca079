//! The commands of a board. Ids are chosen by the caller, because this crate has no randomness.

use rhae_protocol::{
    BoardClaim, BoardFlag, BoardRun, BoardSystem, EntryId, RegistrationId, RetractionReason,
};

/// The actor of the organiser in the log.
pub const ORGANISER: &str = "organiser";

/// The stored runs of a row as they are verified now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedRow {
    pub entry: EntryId,
    pub runs: Vec<BoardRun>,
    pub reruns: Vec<BoardRun>,
    /// Why a run is not accepted any more.
    pub failure: Option<String>,
}

/// What an author or the organiser wants to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Announces runs before their first action.
    Register {
        registration: RegistrationId,
        system: Box<BoardSystem>,
        /// The seeds of the agent, one for each repeat.
        seeds: Vec<u64>,
    },
    Submit {
        entry: EntryId,
        system: Box<BoardSystem>,
        registration: Option<RegistrationId>,
        claim: BoardClaim,
    },
    /// Adds a run whose recordings were all replayed.
    AddRun {
        entry: EntryId,
        run: Box<BoardRun>,
    },
    /// Records that a run was not accepted.
    RefuseRun {
        entry: EntryId,
        reason: String,
    },
    /// Records that the plays of a row were found on the organiser's server.
    Witness {
        entry: EntryId,
        cards: Vec<String>,
    },
    /// Compares the score of a row with runs of the organiser.
    Reproduce {
        entry: EntryId,
        runs: Vec<BoardRun>,
    },
    /// Confirms that the organiser ran the model of an official row.
    Certify {
        entry: EntryId,
        statement: String,
    },
    Flag {
        entry: EntryId,
        flag: BoardFlag,
        evidence: String,
    },
    Unflag {
        entry: EntryId,
        flag: BoardFlag,
        reason: String,
    },
    Retract {
        entry: EntryId,
        reason: RetractionReason,
        note: String,
    },
    Contest {
        entry: EntryId,
        text: String,
    },
    Answer {
        entry: EntryId,
        text: String,
    },
    Release,
    /// Replaces the counts of runs that this program had verified wrongly, and releases the rows.
    Rescore {
        note: String,
        rows: Vec<VerifiedRow>,
    },
    /// Erases the names of the people of a row. The caller also removes them from the stored records.
    Erase {
        entry: EntryId,
    },
    Close {
        reason: String,
    },
    /// Records what is due at this time, and nothing else.
    CatchUp,
}
