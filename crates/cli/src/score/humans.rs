//! `rhae score humans`: computes baselines from a table of human plays.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_scoring::{Method, human_baseline};
use serde::Serialize;

use crate::output;

/// Compute baselines under each method from a table of human plays.
///
/// The table is a CSV file with the columns participant, environment, level, actions and completed.
/// Only the first row of a participant for a level counts, because baselines are for first-time
/// plays.
#[derive(Args)]
pub(crate) struct HumansArgs {
    /// CSV file
    table: PathBuf,
    /// Print the baselines as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Baselines {
    environment: String,
    level: u32,
    players: usize,
    completed: usize,
    /// The baseline of each method, or the reason why it is missing.
    methods: BTreeMap<&'static str, Baseline>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Baseline {
    Count(u32),
    Missing { error: String },
}

/// The action counts of the participants for each level; `None` for a participant who did not
/// complete it.
type LevelTable = BTreeMap<(String, u32), Vec<Option<u32>>>;

pub(super) fn run(args: &HumansArgs) -> Result<()> {
    let name = args.table.display();
    let text =
        std::fs::read_to_string(&args.table).with_context(|| format!("cannot read `{name}`"))?;
    let (levels, repeated) = read(&text).with_context(|| format!("cannot use `{name}`"))?;
    let baselines: Vec<Baselines> = levels
        .into_iter()
        .map(|((environment, level), plays)| of_level(environment, level, &plays))
        .collect();
    if args.json {
        output::print_json(&baselines)?;
    } else {
        output::print(
            "environment  level  players  completed  draft-2025  paper-2026-03  docs-2026-04",
        )?;
        for one in &baselines {
            let shown: Vec<String> = Method::ALL
                .iter()
                .map(|method| match &one.methods[method.name()] {
                    Baseline::Count(count) => count.to_string(),
                    Baseline::Missing { .. } => "-".to_owned(),
                })
                .collect();
            output::print(&format!(
                "{:<11}  {:>5}  {:>7}  {:>9}  {:>10}  {:>13}  {:>12}",
                one.environment,
                one.level,
                one.players,
                one.completed,
                shown[0],
                shown[1],
                shown[2]
            ))?;
        }
        if repeated > 0 {
            output::print(&format!(
                "\nignored rows of participants who had played the level before: {repeated}"
            ))?;
        }
    }
    let missing = baselines.iter().flat_map(|one| {
        one.methods
            .iter()
            .map(move |(method, baseline)| (one, method, baseline))
    });
    let errors: Vec<String> = missing
        .filter_map(|(one, method, baseline)| match baseline {
            Baseline::Missing { error } => Some(format!(
                "{} level {}, {method}: {error}",
                one.environment, one.level
            )),
            Baseline::Count(_) => None,
        })
        .collect();
    ensure!(
        errors.is_empty(),
        "some baselines cannot be computed:\n  {}",
        errors.join("\n  ")
    );
    Ok(())
}

fn of_level(environment: String, level: u32, plays: &[Option<u32>]) -> Baselines {
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
    Baselines {
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
fn read(text: &str) -> Result<(LevelTable, usize)> {
    let mut rows = text
        .lines()
        .map(str::trim_end)
        .enumerate()
        .filter(|(_, row)| !row.is_empty());
    let (_, header) = rows.next().context("the table is empty")?;
    let header: Vec<String> = header
        .trim_start_matches('\u{feff}')
        .split(',')
        .map(|name| unquoted(name).to_ascii_lowercase())
        .collect();
    let position = |wanted: &str| {
        header
            .iter()
            .position(|name| name == wanted)
            .with_context(|| {
                format!(
                    "line 1: the column `{wanted}` is missing; found `{}`",
                    header.join(",")
                )
            })
    };
    let positions: Vec<usize> = COLUMNS
        .iter()
        .map(|column| position(column))
        .collect::<Result<_>>()?;
    let (mut levels, mut seen, mut repeated) = (LevelTable::new(), BTreeSet::new(), 0);
    for (index, row) in rows {
        let line = index + 1;
        let fields: Vec<&str> = row.split(',').map(unquoted).collect();
        ensure!(
            fields.len() == header.len(),
            "line {line}: {} fields, but the header has {}",
            fields.len(),
            header.len()
        );
        let field = |column: usize| fields[positions[column]];
        let number = |column: usize| match field(column).parse::<u32>() {
            Ok(number) if number > 0 => Ok(number),
            _ => bail!(
                "line {line}: `{}` is not a valid value of `{}`: expected a whole number above 0",
                field(column),
                COLUMNS[column]
            ),
        };
        let (participant, environment) = (field(0).to_owned(), field(1).to_owned());
        ensure!(
            !participant.is_empty() && !environment.is_empty(),
            "line {line}: participant and environment must not be empty"
        );
        let level = number(2)?;
        let completed = match field(4).to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => true,
            "false" | "no" | "0" => false,
            other => bail!(
                "line {line}: `{other}` is not a valid value of `completed`: expected true or false"
            ),
        };
        // A participant may give up before the first action, but a count must be positive. The
        // count is therefore read for completed levels only.
        let actions = if completed { Some(number(3)?) } else { None };
        if seen.insert((participant, environment.clone(), level)) {
            levels
                .entry((environment, level))
                .or_default()
                .push(actions);
        } else {
            repeated += 1;
        }
    }
    ensure!(!levels.is_empty(), "the table has a header but no rows");
    Ok((levels, repeated))
}

/// Removes white space and quotation marks around a field.
fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field
        .strip_prefix('"')
        .and_then(|field| field.strip_suffix('"'))
        .unwrap_or(field)
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
