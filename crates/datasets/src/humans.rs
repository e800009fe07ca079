//! Baselines from a CSV table of human plays.
//!
//! The table has the columns `participant`, `environment`, `level`, `actions` and `completed`, in any
//! order; other columns are ignored. Only the first row of a participant for a level counts, because
//! baselines are for first-time plays.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rhae_scoring::{Method, human_baseline};
use serde::Serialize;

use crate::DatasetsError;

/// The baselines of every level in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct HumanTable {
    pub levels: Vec<LevelBaselines>,
    /// The number of rows that were ignored, because the participant had played the level before.
    pub repeated: usize,
}

/// The baselines of one level under each scoring method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelBaselines {
    pub environment: String,
    /// The number of the level, from 1.
    pub level: u32,
    pub players: usize,
    /// The number of players who completed the level.
    pub completed: usize,
    /// The baseline of each method, or the reason why it is missing.
    pub methods: BTreeMap<&'static str, Baseline>,
}

/// The baseline of a level under one scoring method.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Baseline {
    Count(u32),
    Missing { error: String },
}

impl HumanTable {
    /// Parses a table and computes the baselines.
    ///
    /// # Errors
    ///
    /// Returns [`DatasetsError::Table`] with the line and the reason if the table is not valid.
    ///
    /// # Examples
    ///
    /// ```
    /// let table = "participant,environment,level,actions,completed\n\
    ///              \"Lee, Ann\",ab12-v1,1,10,true\n\
    ///              \"Lee, Bob\",ab12-v1,1,14,true\n";
    /// let table = rhae_datasets::HumanTable::parse(table)?;
    /// assert_eq!(table.levels[0].players, 2);
    /// # Ok::<(), rhae_datasets::DatasetsError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, DatasetsError> {
        let (levels, repeated) = read(text)?;
        Ok(Self {
            levels: levels
                .into_iter()
                .map(|((environment, level), plays)| of_level(environment, level, &plays))
                .collect(),
            repeated,
        })
    }

    /// Returns a message for each baseline that cannot be computed.
    pub fn missing(&self) -> Vec<String> {
        let baselines = self.levels.iter().flat_map(|one| {
            one.methods
                .iter()
                .map(move |(method, baseline)| (one, method, baseline))
        });
        baselines
            .filter_map(|(one, method, baseline)| match baseline {
                Baseline::Missing { error } => Some(format!(
                    "{} level {}, {method}: {error}",
                    one.environment, one.level
                )),
                Baseline::Count(_) => None,
            })
            .collect()
    }
}

impl fmt::Display for HumanTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "environment  level  players  completed  draft-2025  paper-2026-03  docs-2026-04"
        )?;
        for one in &self.levels {
            let shown: Vec<String> = Method::ALL
                .iter()
                .map(|method| match &one.methods[method.name()] {
                    Baseline::Count(count) => count.to_string(),
                    Baseline::Missing { .. } => "-".to_owned(),
                })
                .collect();
            writeln!(
                out,
                "{:<11}  {:>5}  {:>7}  {:>9}  {:>10}  {:>13}  {:>12}",
                one.environment,
                one.level,
                one.players,
                one.completed,
                shown[0],
                shown[1],
                shown[2]
            )?;
        }
        if self.repeated > 0 {
            writeln!(
                out,
                "\nignored rows of participants who had played the level before: {}",
                self.repeated
            )?;
        }
        Ok(())
    }
}

/// The action counts of the participants for each level; `None` for a participant who did not
/// complete it.
type LevelTable = BTreeMap<(String, u32), Vec<Option<u32>>>;

fn of_level(environment: String, level: u32, plays: &[Option<u32>]) -> LevelBaselines {
    let counts: Vec<u32> = plays.iter().flatten().copied().collect();
    let baseline = |method: Method| match human_baseline(method.baseline_rule(), &counts) {
        Ok(count) => Baseline::Count(count),
        Err(error) => Baseline::Missing {
            error: error.to_string(),
        },
    };
    let methods = Method::ALL
        .into_iter()
        .map(|method| (method.name(), baseline(method)))
        .collect();
    LevelBaselines {
        environment,
        level,
        players: plays.len(),
        completed: counts.len(),
        methods,
    }
}

const COLUMNS: [&str; 5] = [
    "participant",
    "environment",
    "level",
    "actions",
    "completed",
];

/// Parses the table. Returns the plays of each level and the number of ignored repeated plays.
fn read(text: &str) -> Result<(LevelTable, usize), DatasetsError> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let header: Vec<String> = reader
        .headers()
        .map_err(|error| invalid(&error))?
        .iter()
        .map(str::to_ascii_lowercase)
        .collect();
    if header.is_empty() {
        return Err(DatasetsError::Table("the table is empty".to_owned()));
    }
    let position = |wanted: &&str| {
        header
            .iter()
            .position(|name| name == wanted)
            .ok_or_else(|| {
                DatasetsError::Table(format!(
                    "line 1: the column `{wanted}` is missing; found `{}`",
                    header.join(",")
                ))
            })
    };
    let positions: Vec<usize> = COLUMNS.iter().map(position).collect::<Result<_, _>>()?;
    let (mut levels, mut seen, mut repeated) = (LevelTable::new(), BTreeSet::new(), 0);
    for record in reader.records() {
        let record = record.map_err(|error| invalid(&error))?;
        let row = read_row(&record, &positions, header.len()).map_err(|reason| {
            let line = record.position().map_or(0, csv::Position::line);
            DatasetsError::Table(format!("line {line}: {reason}"))
        })?;
        if seen.insert((row.participant, row.environment.clone(), row.level)) {
            levels
                .entry((row.environment, row.level))
                .or_default()
                .push(row.actions);
        } else {
            repeated += 1;
        }
    }
    if levels.is_empty() {
        return Err(DatasetsError::Table(
            "the table has a header but no rows".to_owned(),
        ));
    }
    Ok((levels, repeated))
}

/// One play of one level.
struct Row {
    participant: String,
    environment: String,
    level: u32,
    /// `None` if the level was not completed.
    actions: Option<u32>,
}

/// Reads a row with `columns` fields. `positions` are the places of [`COLUMNS`].
fn read_row(
    record: &csv::StringRecord,
    positions: &[usize],
    columns: usize,
) -> Result<Row, String> {
    if record.len() != columns {
        return Err(format!(
            "{} fields, but the header has {columns}",
            record.len()
        ));
    }
    let field = |column: usize| &record[positions[column]];
    let number = |column: usize| match field(column).parse::<u32>() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!(
            "`{}` is not a valid value of `{}`: expected a whole number above 0",
            field(column),
            COLUMNS[column]
        )),
    };
    let (participant, environment) = (field(0).to_owned(), field(1).to_owned());
    if participant.is_empty() || environment.is_empty() {
        return Err("participant and environment must not be empty".to_owned());
    }
    let level = number(2)?;
    let completed = match field(4).to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => true,
        "false" | "no" | "0" => false,
        other => {
            return Err(format!(
                "`{other}` is not a valid value of `completed`: expected true or false"
            ));
        }
    };
    // A participant may give up before the first action, but a count must be positive. The count is
    // therefore read for completed levels only.
    let actions = if completed { Some(number(3)?) } else { None };
    Ok(Row {
        participant,
        environment,
        level,
        actions,
    })
}

fn invalid(error: &csv::Error) -> DatasetsError {
    DatasetsError::Table(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_plays_are_ignored() {
        let table = "participant,environment,level,actions,completed\na,ab12-v1,1,10,true\nb,ab12-v1,1,20,yes\na,ab12-v1,1,3,true\nc,ab12-v1,1,90,no\n";
        let (levels, repeated) = read(table).unwrap();
        assert_eq!(
            levels[&("ab12-v1".to_owned(), 1)],
            [Some(10), Some(20), None]
        );
        assert_eq!(repeated, 1);
    }

    #[test]
    fn quoted_fields_may_contain_commas_and_quotation_marks() {
        let table = "\u{feff}participant, Environment ,note,level,actions,completed\r\n\
                     \"Lee, Ann\",ab12-v1,\"said \"\"hm\"\", left\",1,10,true\r\n\r\n\
                     \"Lee, Bob\",ab12-v1,,1,12,true\r\n";
        let (levels, repeated) = read(table).unwrap();
        assert_eq!(levels[&("ab12-v1".to_owned(), 1)], [Some(10), Some(12)]);
        assert_eq!(repeated, 0);
    }

    #[test]
    fn invalid_rows_are_reported_with_their_line() {
        let header = "participant,environment,level,actions,completed\n";
        for (row, reason) in [
            (
                "a,ab12-v1,1,0,true",
                "line 2: `0` is not a valid value of `actions`",
            ),
            (
                "a,ab12-v1,-1,5,true",
                "line 2: `-1` is not a valid value of `level`",
            ),
            ("a,ab12-v1,1,5", "line 2: 4 fields"),
            ("a,ab12-v1,1,5,maybe", "line 2: `maybe`"),
            ("", "no rows"),
        ] {
            let error = read(&format!("{header}{row}\n")).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert!(
            read("player,environment\n")
                .unwrap_err()
                .to_string()
                .contains("the column `participant` is missing")
        );
    }
}
