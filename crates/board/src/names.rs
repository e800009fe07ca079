//! The names of people in the log, which can be erased.
//!
//! *Invariant:* where a name, a link or an affiliation of a person would be, a record has a salted hash, and
//! only this hash is part of the chain. The texts are next to it, in a field that the hash of the record
//! does not cover. Every check of a log gives the same result with and without them.

use std::collections::BTreeSet;

use rhae_protocol::{
    BoardAuthor, BoardEvent, BoardRecord, BoardRow, BoardSystem, EntryId, SealedName,
};
use rhae_study::digest;

use crate::command::ORGANISER;
use crate::state::{BoardState, Entry};
use crate::system_check::fold;

/// What readers see in place of an erased name.
pub const ERASED: &str = "(erased)";
/// The start of the evidence of a flag that a person has raised.
pub(crate) const EVIDENCE_BY: &str = "by ";
/// The start of a hash in place of a text.
const PREFIX: &str = "sha256:";
/// The start of an actor that is an API key and not a person.
const KEY: &str = "key ";

/// Replaces the names in an event and its actor by hashes, and returns the names.
pub(crate) fn seal(salt: &str, actor: &mut String, event: &mut BoardEvent) -> Vec<SealedName> {
    let mut names = Vec::new();
    for text in texts_of_people(actor, event) {
        let name = SealedName {
            salt: salt.to_owned(),
            text: text.clone(),
        };
        *text = hash(&name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns what a record has in the place of a name.
pub(crate) fn hash(name: &SealedName) -> String {
    format!("{PREFIX}{}", digest(&[&name.salt, &name.text]))
}

fn texts_of_people<'a>(actor: &'a mut String, event: &'a mut BoardEvent) -> Vec<&'a mut String> {
    let mut texts = Vec::new();
    if actor != ORGANISER && !actor.is_empty() && !actor.starts_with(KEY) {
        texts.push(actor);
    }
    if let BoardEvent::Registered { system, .. } | BoardEvent::Submitted { system, .. } = event {
        for author in &mut system.authors {
            texts.extend([&mut author.name, &mut author.link]);
            texts.extend(author.affiliation.as_mut());
        }
    }
    texts
}

/// Returns whether the names of a record are those of its hashes.
pub(crate) fn are_valid(record: &BoardRecord) -> bool {
    if record.names.is_empty() {
        return true;
    }
    let (mut actor, mut event) = (record.actor.clone(), record.event.clone());
    let texts = texts_of_people(&mut actor, &mut event);
    let hashes: BTreeSet<&String> = texts.into_iter().map(|text| &*text).collect();
    let mut names = record.names.iter();
    names.all(|name| hashes.contains(&hash(name)))
}

impl BoardState {
    /// Returns the text of a name: `text` itself if it is not a hash, and [`ERASED`] if it was erased.
    pub fn name<'a>(&'a self, text: &'a str) -> &'a str {
        self.known(text).unwrap_or(ERASED)
    }

    fn known<'a>(&'a self, text: &'a str) -> Option<&'a str> {
        if text.starts_with(PREFIX) {
            self.names.get(text).map(String::as_str)
        } else {
            Some(text)
        }
    }

    /// Returns a system with the names of its authors.
    pub fn named(&self, system: &BoardSystem) -> BoardSystem {
        let authors = system.authors.iter();
        BoardSystem {
            authors: authors.map(|author| self.named_author(author)).collect(),
            ..system.clone()
        }
    }

    fn named_author(&self, author: &BoardAuthor) -> BoardAuthor {
        let affiliation = author.affiliation.as_deref();
        BoardAuthor {
            name: self.name(&author.name).to_owned(),
            link: self.known(&author.link).unwrap_or_default().to_owned(),
            affiliation: affiliation.and_then(|text| Some(self.known(text)?.to_owned())),
        }
    }

    /// Returns whether a name is that of an author of a row.
    pub fn is_author(&self, entry: &Entry, name: &str) -> bool {
        self.folded_authors(&entry.system).contains(&fold(name))
    }

    /// Returns the names of authors in the form in which they are compared. Erased names equal no other.
    pub(crate) fn folded_authors(&self, system: &BoardSystem) -> BTreeSet<String> {
        let authors = system.authors.iter();
        let names = authors.filter_map(|author| self.known(&author.name));
        names.map(fold).collect()
    }
}

/// Replaces the hashes in a row by the names.
pub(crate) fn show_names(state: &BoardState, row: &mut BoardRow) {
    for author in &mut row.authors {
        *author = state.named_author(author);
    }
    let retracted = row.retraction.iter_mut().map(|one| &mut one.by);
    let contested = row.contest.iter_mut().map(|one| &mut one.by);
    for by in retracted.chain(contested) {
        *by = state.name(by).to_owned();
    }
    for flag in &mut row.flags {
        if let Some(by) = flag.evidence.strip_prefix(EVIDENCE_BY) {
            flag.evidence = format!("{EVIDENCE_BY}{}", state.name(by));
        }
    }
}

/// Returns the hashes of the names of a row: its authors, also in registrations of its system, who submitted
/// it, and who retracted or contested it.
pub(crate) fn hashes_of(state: &BoardState, id: &EntryId) -> BTreeSet<String> {
    let Some(entry) = state.entries.get(id) else {
        return BTreeSet::new();
    };
    // Other authors cannot use the name of the system, so its registrations are of the same people.
    let name = fold(&entry.system.name);
    let registered = state.registrations.values().map(|one| &one.system);
    let authors = registered
        .filter(|system| fold(&system.name) == name)
        .chain([&entry.system])
        .flat_map(|system| &system.authors);
    let texts = authors.flat_map(|author| {
        let affiliation = author.affiliation.iter();
        [&author.name, &author.link].into_iter().chain(affiliation)
    });
    let retracted = entry.retraction.iter().map(|one| &one.by);
    let contested = entry.contest.iter().map(|one| &one.by);
    let actors = retracted.chain(contested).chain([&entry.actor]);
    let all = texts.chain(actors);
    all.filter(|text| text.starts_with(PREFIX))
        .cloned()
        .collect()
}

/// Returns the records of a log that contain names of a row, without these names.
pub fn erased_records(
    state: &BoardState,
    records: &[BoardRecord],
    entry: &EntryId,
) -> Vec<BoardRecord> {
    let erased = hashes_of(state, entry);
    let has_name = |record: &&BoardRecord| {
        let mut names = record.names.iter();
        names.any(|name| erased.contains(&hash(name)))
    };
    let without = |record: &BoardRecord| {
        let mut record = record.clone();
        record.names.retain(|name| !erased.contains(&hash(name)));
        record
    };
    records.iter().filter(has_name).map(without).collect()
}
