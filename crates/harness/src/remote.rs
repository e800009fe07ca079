//! A run on a server. Each repeat has a scorecard on the server, which is opened with the first play,
//! kept open by heartbeats, closed at the end, and compared with the local counts.
//!
//! **Invariant:** only the API client gets the key; no file and no message contains it. However a
//! run ends, unless the process is killed, its cards are closed, and a card that cannot be closed
//! is reported.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rhae_agents::AgentSpec;
use rhae_client::{Card, CardOptions, Heartbeat, RemoteCatalog, RetryPolicy, Server, ServerCard};
use rhae_engine::{Catalog, UnknownGame};
use rhae_protocol::{
    CardRecord, Ending, PlayRecord, REPLAY_MARK, RunConfig, Scorecard, ServerRecord,
};
use rhae_runs::RunsError;

use crate::{Arena, Budget, HarnessError, Results, RunSpec};

/// The file in the run folder that lists the server's cards and plays.
const RECORD: &str = "server.json";
/// Interval between heartbeats. The shortest idle timeout of a server is one minute, so several
/// heartbeats arrive before a card expires.
const HEARTBEAT: Duration = Duration::from_secs(20);
/// Maximum number of cards of a run on a server, because all of them are open at the same time.
const MAX_CARDS: u32 = 100;

/// Plays on a server, with one card for each repeat.
pub struct RemoteArena {
    server: Arc<Server>,
    competition: bool,
    listed: RemoteCatalog,
    cards: Arc<Mutex<BTreeMap<u32, Arc<RemoteCatalog>>>>,
    tags: Mutex<Vec<String>>,
    /// The catalogue in which recordings are replayed for the report.
    replays: Box<dyn Catalog>,
}

impl RemoteArena {
    /// Connects to a server and reads its list of environments. `replays` contains the environments
    /// whose recordings can be replayed locally; the report has no films of others.
    ///
    /// # Errors
    ///
    /// Returns an error if the server cannot be reached or lists no environment.
    pub fn connect(
        url: &str,
        key: Option<&str>,
        competition: bool,
        replays: Box<dyn Catalog>,
    ) -> Result<Self, HarnessError> {
        let server = Server::connect(url, key, RetryPolicy::default())?;
        if server.games().is_empty() {
            return Err(HarnessError::Request(format!(
                "the server at {} lists no environment",
                server.address()
            )));
        }
        let listed = RemoteCatalog::new(Arc::clone(&server), CardOptions::default());
        Ok(Self {
            server,
            competition,
            listed,
            cards: Arc::default(),
            tags: Mutex::default(),
            replays,
        })
    }

    /// Returns the number of entries of the server's list that have no id such as `ab12-v1`.
    pub fn skipped_games(&self) -> usize {
        self.server.skipped_games()
    }

    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// Checks that a run with this configuration is possible on a server. Returns notes for the
    /// user.
    pub(crate) fn check(&self, config: &RunConfig) -> Result<Vec<String>, HarnessError> {
        let invalid = |message: String| Err(HarnessError::Request(message));
        if config.env_seed != 0 {
            return invalid(format!(
                "a server supports only --env-seed 0, found {}",
                config.env_seed
            ));
        }
        if config.repeat > MAX_CARDS {
            return invalid(format!(
                "--repeat is at most {MAX_CARDS} on a server, because each repeat has an open scorecard"
            ));
        }
        let mut unknown = Vec::new();
        for id in &config.games {
            if self.listed.find(id)?.baselines.is_empty() {
                unknown.push(id.as_str());
            }
        }
        Ok(baselines_note(&unknown, &config.budget)
            .into_iter()
            .collect())
    }

    /// Returns the error for an environment that the server does not list for this key.
    pub(crate) fn describe_unknown(&self, unknown: &UnknownGame) -> HarnessError {
        let listed: Vec<&str> = self
            .server
            .games()
            .iter()
            .map(|info| info.id.as_str())
            .collect();
        HarnessError::Request(format!(
            "the server at {} lists no environment `{}` for this key; it lists {}",
            self.address(),
            unknown.name,
            named(&listed)
        ))
    }

    /// Runs the plays while heartbeats keep the cards open, closes the cards, and reports where the
    /// server's counts differ from the local ones. `notify` receives the messages for the user.
    ///
    /// # Errors
    ///
    /// Returns the error of `play`, or an error if the record of the cards cannot be written.
    pub fn run(
        &self,
        spec: &RunSpec,
        play: impl FnOnce(&dyn Arena) -> Result<Results, HarnessError>,
        notify: &dyn Fn(&str),
    ) -> Result<Results, HarnessError> {
        let player = if spec.config.agent_cmd.is_some() {
            "command".to_owned()
        } else {
            spec.agent.name()
        };
        *self.tags.lock().unwrap_or_else(PoisonError::into_inner) = match spec.agent {
            AgentSpec::Replay(_) => vec![REPLAY_MARK.to_owned(), "rhae".to_owned()],
            _ => vec!["agent".to_owned(), "rhae".to_owned(), player],
        };
        let cards = Arc::clone(&self.cards);
        let heartbeat = Heartbeat::start(HEARTBEAT, move || {
            open_cards(&cards)
                .into_iter()
                .map(|(_, card)| card)
                .collect()
        });
        let played = play(self);
        // Cancel the requests that are still in flight: they belong to abandoned plays.
        self.server.cancel();
        if let Some(problem) = heartbeat.last_error() {
            notify(&format!("note: a heartbeat failed: {problem}"));
        }
        drop(heartbeat);
        let interrupted = played
            .as_ref()
            .is_ok_and(|results| !results.summary.finished);
        if interrupted && !open_cards(&self.cards).is_empty() {
            notify(
                "closing the server's scorecard; press Ctrl-C again to leave it open until the server closes it",
            );
        }
        let records: Vec<CardRecord> = open_cards(&self.cards)
            .iter()
            .map(|(repeat, card)| close(*repeat, card, played.as_ref().ok()))
            .collect();
        for record in &records {
            for difference in &record.differences {
                notify(&format!("server: {difference}"));
            }
        }
        let results = played?;
        self.record(spec, records)?;
        Ok(results)
    }

    /// Appends the cards of this process to the run's record, which may list cards of earlier
    /// processes.
    fn record(&self, spec: &RunSpec, cards: Vec<CardRecord>) -> Result<(), HarnessError> {
        let before: Option<ServerRecord> =
            match std::fs::read(spec.folder.file(RECORD)) {
                Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| {
                    RunsError::MalformedFile {
                        path: spec.folder.file(RECORD),
                        reason: error.to_string(),
                    }
                })?),
                Err(_) => None,
            };
        let mut record = before.unwrap_or_else(|| ServerRecord {
            server: self.address().to_owned(),
            cards: Vec::new(),
        });
        record.cards.extend(cards);
        Ok(spec.folder.write_json(RECORD, &record)?)
    }
}

impl Arena for RemoteArena {
    fn environments(&self) -> &dyn Catalog {
        &self.listed
    }

    fn card(&self, repeat: u32) -> Arc<dyn Catalog> {
        let tags = self
            .tags
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let options = CardOptions {
            tags,
            competition: self.competition,
        };
        let mut cards = self.cards.lock().unwrap_or_else(PoisonError::into_inner);
        let catalog = cards
            .entry(repeat)
            .or_insert_with(|| Arc::new(RemoteCatalog::new(Arc::clone(&self.server), options)));
        Arc::clone(catalog) as _
    }

    fn replays(&self) -> &dyn Catalog {
        self.replays.as_ref()
    }
}

/// Returns a note about environments without baselines.
fn baselines_note(ids: &[&str], budget: &str) -> Option<String> {
    if ids.is_empty() {
        return None;
    }
    let limit = match budget.parse::<Budget>() {
        Ok(Budget::PerLevel(times)) => format!(
            ", and `--budget {budget}` allows {} actions on each level",
            Budget::ASSUMED_BASELINE.saturating_mul(times)
        ),
        _ => String::new(),
    };
    Some(format!(
        "the server has no baselines for {}: such a play has no score, which counts as 0{limit}",
        named(ids)
    ))
}

/// Lists the first ids.
fn named(ids: &[&str]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = ids.iter().take(SHOWN).map(|id| format!("`{id}`")).collect();
    let more = match ids.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}

/// Returns the opened cards with their repeat numbers.
fn open_cards(cards: &Mutex<BTreeMap<u32, Arc<RemoteCatalog>>>) -> Vec<(u32, Arc<Card>)> {
    let catalogs: Vec<(u32, Arc<RemoteCatalog>)> = {
        let cards = cards.lock().unwrap_or_else(PoisonError::into_inner);
        cards
            .iter()
            .map(|(&repeat, catalog)| (repeat, Arc::clone(catalog)))
            .collect()
    };
    catalogs
        .into_iter()
        .filter_map(|(repeat, catalog)| Some((repeat, catalog.card()?)))
        .collect()
}

/// Closes a card and compares it with the local counts.
fn close(repeat: u32, card: &Card, results: Option<&Results>) -> CardRecord {
    let plays: Vec<PlayRecord> = card
        .plays()
        .into_iter()
        .map(|(id, guid)| PlayRecord {
            game_id: id.to_string(),
            guid,
        })
        .collect();
    let ours = results.and_then(|results| results.cards.get(repeat as usize - 1));
    let mut record = CardRecord {
        repeat,
        card_id: card.id().to_owned(),
        plays,
        ..CardRecord::default()
    };
    match card.close() {
        Ok(theirs) => {
            record.closed = true;
            record.score = theirs.score;
            record.differences =
                ours.map_or_else(Vec::new, |ours| differences(&theirs, ours, &record.plays));
        }
        Err(error) => record.differences.push(format!(
            "the scorecard {} could not be closed: {error}",
            card.id()
        )),
    }
    record
}

/// Describes where a server's counts differ from the local ones. Interrupted plays are skipped,
/// because an action may have been in flight.
fn differences(theirs: &ServerCard, ours: &Scorecard, plays: &[PlayRecord]) -> Vec<String> {
    let mut found = Vec::new();
    for PlayRecord { game_id, guid } in plays {
        let run = ours
            .environments
            .iter()
            .find(|environment| environment.id == *game_id)
            .and_then(|one| one.runs.last());
        let Some(run) = run.filter(|run| run.ending != Some(Ending::Interrupted)) else {
            continue;
        };
        let mut differ = |what: &str, there: String, here: String| {
            if there != here {
                found.push(format!(
                    "`{game_id}`: the server counted {there} {what}, the local count is {here}"
                ));
            }
        };
        let runs = theirs.runs(guid);
        let [there] = runs.as_slice() else {
            differ("runs of the play", runs.len().to_string(), "1".to_owned());
            continue;
        };
        differ(
            "actions",
            there.actions.to_string(),
            run.actions.to_string(),
        );
        differ(
            "levels",
            there.levels_completed.to_string(),
            run.levels_completed.to_string(),
        );
        if let Some(levels) = &there.level_actions {
            differ(
                "actions by level",
                by_level(levels.iter().copied()),
                by_level(run.level_actions.iter().map(|&count| count as i64)),
            );
        }
        if theirs.method.as_deref() == Some(&ours.method)
            && let Some(score) = there.score
        {
            differ(
                "percent",
                format!("{score:.6}"),
                format!("{:.6}", run.score),
            );
        }
    }
    found
}

/// Formats counts without trailing zeros, because servers list different numbers of levels.
fn by_level(counts: impl Iterator<Item = i64>) -> String {
    let counts: Vec<i64> = counts.collect();
    let used = counts
        .iter()
        .rposition(|&count| count > 0)
        .map_or(0, |last| last + 1);
    format!("{:?}", &counts[..used])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_about_baselines_states_the_assumed_limit() {
        assert_eq!(baselines_note(&[], "5x"), None);
        assert_eq!(
            baselines_note(&["ab12-v1"], "5x").unwrap(),
            "the server has no baselines for `ab12-v1`: such a play has no score, which counts as 0, and `--budget 5x` allows 1000 actions on each level"
        );
        let ids = ["ab12-v1"; 10];
        let note = baselines_note(&ids, "80").unwrap();
        assert!(
            note.ends_with("`ab12-v1` and 2 more: such a play has no score, which counts as 0")
        );
    }
}
