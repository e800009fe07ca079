//! The file `submission.yaml` of the community leaderboard of ARC-AGI: reading and writing.
//!
//! A submission is untrusted: aliases, deep nesting and large files are refused, a number is
//! never read from a boolean, and texts are not interpreted. The claim of a version never enters a
//! ranking; it needs a run folder to become more than a claim.

use rhae_board::{Audience, BoardState, board_rows};
use rhae_protocol::{BoardAuthor, BoardClaim, BoardSet, BoardSystem, EntryId, Exposure};
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::yaml::Hash;
use yaml_rust2::{Yaml, YamlEmitter, YamlLoader};

use crate::BoardError;

const MAX_BYTES: usize = 64 * 1024;
const MAX_DEPTH: usize = 8;
const MAX_VERSIONS: usize = 100;
/// The benchmark of environments. It has a scorecard and no score; the others have a score.
const ENVIRONMENTS: &str = "arc-agi-3";
/// The benchmarks of static tasks, with which the names of their sets start.
const TASKS: [&str; 2] = ["arc-agi-1", "arc-agi-2"];
/// The fields of an author that may have a link, in the order of preference.
const LINKS: [&str; 5] = ["url", "github", "scholar", "linkedin", "twitter"];

/// One version of a submitted system.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmittedVersion {
    pub system: BoardSystem,
    pub claim: BoardClaim,
    /// The benchmark, such as `arc-agi-3`.
    pub benchmark: String,
    /// The set that the submission names, such as `public`.
    pub set: String,
}

/// Returns the benchmark whose results a board takes.
///
/// # Errors
///
/// Returns [`BoardError::Submission`] if the set of static tasks is not one of ARC-AGI.
pub fn submission_benchmark(set: &BoardSet) -> Result<&'static str, BoardError> {
    if set.tasks.is_none() {
        return Ok(ENVIRONMENTS);
    }
    let found = TASKS.into_iter().find(|name| set.name.starts_with(name));
    let unknown = || {
        let name = &set.name;
        let reason =
            format!("the set `{name}` is of none of the benchmarks arc-agi-1 and arc-agi-2");
        invalid("benchmark", &reason)
    };
    found.ok_or_else(unknown)
}

/// Reads the versions of a submission that have a result on a benchmark.
///
/// # Errors
///
/// Returns [`BoardError::Submission`] with the field that is not valid.
///
/// # Examples
///
/// ```
/// use rhae_board_service::parse_submission;
///
/// let text = r#"
/// name: "My agent"
/// authors:
///   - name: "Ada"
///     url: "https://example.org/ada"
/// description: "Explores, then plans."
/// code_url: "https://example.org/code"
/// versions:
///   - version: "1.0"
///     date: 2026-01-01
///     models:
///       - name: "none"
///     scores:
///       - benchmark: "arc-agi-3"
///         scorecard_url: "https://example.org/card"
///         set: "public"
///         cost: 2.50
/// "#;
/// let versions = parse_submission(text, "arc-agi-3")?;
/// assert_eq!(versions[0].system.name, "My agent");
/// assert_eq!(versions[0].claim.cost_usd_micro, Some(2_500_000));
/// // A cost that is not a number is refused.
/// assert!(parse_submission(&text.replace("2.50", ".nan"), "arc-agi-3").is_err());
/// assert!(parse_submission(&text.replace("2.50", "true"), "arc-agi-3").is_err());
/// # Ok::<(), rhae_board_service::BoardError>(())
/// ```
pub fn parse_submission(text: &str, benchmark: &str) -> Result<Vec<SubmittedVersion>, BoardError> {
    check_form(text)?;
    let documents =
        YamlLoader::load_from_str(text).map_err(|error| invalid("file", &error.to_string()))?;
    let [root] = &documents[..] else {
        return Err(invalid("file", "expected one document"));
    };
    let authors = list(root, "authors")?;
    let authors: Vec<BoardAuthor> = authors.iter().map(author).collect::<Result<_, _>>()?;
    let versions = list(root, "versions")?;
    if versions.len() > MAX_VERSIONS {
        return Err(invalid("versions", "expected at most 100"));
    }
    let mut submitted = Vec::new();
    for version in versions {
        let base = BoardSystem {
            name: required(root, "name")?,
            version: version_name(version)?,
            authors: authors.clone(),
            description: required(root, "description")?,
            code_url: required(root, "code_url")?,
            models: models(version)?,
            exposure: Exposure::Unknown,
            hardware: None,
            paper_url: optional(root, "paper_url"),
        };
        for score in list(version, "scores")? {
            if required(score, "benchmark")? == benchmark {
                submitted.push(result(version, score, base.clone())?);
            }
        }
    }
    if submitted.is_empty() {
        let reason = format!("no version has a result on {benchmark}");
        return Err(invalid("versions", &reason));
    }
    Ok(submitted)
}

/// Refuses aliases, deep nesting and large files before anything is built in memory.
fn check_form(text: &str) -> Result<(), BoardError> {
    if text.len() > MAX_BYTES {
        return Err(invalid("file", "it is larger than 64 KiB"));
    }
    let mut parser = Parser::new_from_str(text);
    let mut depth = 0_usize;
    loop {
        let (event, _) = parser
            .next_token()
            .map_err(|error| invalid("file", &error.to_string()))?;
        match event {
            Event::Alias(_) => return Err(invalid("file", "aliases are not allowed")),
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            Event::StreamEnd => return Ok(()),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(invalid("file", "it is nested too deeply"));
        }
    }
}

fn invalid(field: &str, reason: &str) -> BoardError {
    BoardError::Submission {
        field: field.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Returns a text, whose lines are joined. Boards have no control characters.
fn optional(of: &Yaml, field: &str) -> Option<String> {
    let words: Vec<&str> = of[field].as_str()?.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn required(of: &Yaml, field: &str) -> Result<String, BoardError> {
    optional(of, field).ok_or_else(|| invalid(field, "expected a text"))
}

fn list<'a>(of: &'a Yaml, field: &str) -> Result<&'a [Yaml], BoardError> {
    let list = of[field].as_vec().filter(|list| !list.is_empty());
    list.map(Vec::as_slice)
        .ok_or_else(|| invalid(field, "expected a list with at least one item"))
}

fn author(author: &Yaml) -> Result<BoardAuthor, BoardError> {
    let link = LINKS.iter().find_map(|field| optional(author, field));
    Ok(BoardAuthor {
        name: required(author, "name")?,
        link: link.ok_or_else(|| invalid("authors", "every author needs a link"))?,
        affiliation: optional(author, "affiliation"),
    })
}

/// Returns the name of a version. YAML reads `1.0` without quotes as a number.
fn version_name(version: &Yaml) -> Result<String, BoardError> {
    match &version["version"] {
        Yaml::Integer(number) => Ok(number.to_string()),
        Yaml::Real(text) => Ok(text.clone()),
        _ => required(version, "version"),
    }
}

fn models(version: &Yaml) -> Result<Vec<String>, BoardError> {
    let models = list(version, "models")?;
    models.iter().map(|model| required(model, "name")).collect()
}

fn result(
    version: &Yaml,
    score: &Yaml,
    system: BoardSystem,
) -> Result<SubmittedVersion, BoardError> {
    let benchmark = required(score, "benchmark")?;
    let score_nano = number(score, "score", 100.0)?.map(|value| (value * 1e9).round() as u64);
    let card = optional(score, "scorecard_url");
    let is_played = benchmark == ENVIRONMENTS;
    match (is_played, &score_nano, &card) {
        (true, Some(_), _) => return Err(invalid("score", "arc-agi-3 has a scorecard instead")),
        (true, None, None) => return Err(invalid("scorecard_url", "expected a link")),
        (false, None, _) => return Err(invalid("score", "expected a number from 0 to 100")),
        (false, Some(_), Some(_)) => {
            return Err(invalid("scorecard_url", "only arc-agi-3 has scorecards"));
        }
        _ => {}
    }
    let cost = number(score, "cost", 1e9)?.map(|value| (value * 1e6).round() as u64);
    Ok(SubmittedVersion {
        system,
        claim: BoardClaim {
            score_nano,
            cost_usd_micro: cost,
            scorecard_url: card,
            date: Some(required(version, "date")?),
        },
        benchmark,
        set: required(score, "set")?,
    })
}

/// Returns a number from 0 to `max`; `None` if the field is absent.
fn number(of: &Yaml, field: &str, max: f64) -> Result<Option<f64>, BoardError> {
    let value = match &of[field] {
        Yaml::BadValue | Yaml::Null => return Ok(None),
        Yaml::Integer(value) => *value as f64,
        Yaml::Real(text) => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    };
    if value.is_finite() && (0.0..=max).contains(&value) {
        Ok(Some(value))
    } else {
        Err(invalid(
            field,
            &format!("expected a number from 0 to {max}"),
        ))
    }
}

/// Returns a row as a version of a submission; `None` if the board has no such row. A row with static
/// tasks that the board has scored has that score and its cost instead of the claimed ones.
///
/// # Errors
///
/// Returns [`BoardError::Submission`] if the set is not one of ARC-AGI.
pub fn submitted_version(
    state: &BoardState,
    id: &EntryId,
) -> Result<Option<SubmittedVersion>, BoardError> {
    let Some(entry) = state.entries.get(id) else {
        return Ok(None);
    };
    let set = &state.definition.set;
    let mut claim = entry.claim.clone();
    let rows = board_rows(state, Audience::Public);
    let row = rows.iter().find(|row| row.entry == *id);
    if let (Some(_), Some(row)) = (&set.tasks, row.filter(|row| row.score.is_some())) {
        let score = row.score.map(|score| (score.mean * 1e9).round() as u64);
        let cost = row.cost.usd.map(|usd| (usd * 1e6).round() as u64);
        (claim.score_nano, claim.cost_usd_micro) = (score, cost);
        claim.date = claim.date.or_else(|| Some(row.date.clone()));
    }
    Ok(Some(SubmittedVersion {
        system: state.named(&entry.system),
        claim,
        benchmark: submission_benchmark(set)?.to_owned(),
        set: set.visibility.name().to_owned(),
    }))
}

/// Writes a submission of the community leaderboard of ARC-AGI with one version.
///
/// # Errors
///
/// Returns [`BoardError::Submission`] if a result on environments has no scorecard, or one on static
/// tasks no score, which that leaderboard requires.
pub fn submission_yaml(version: &SubmittedVersion) -> Result<String, BoardError> {
    let (system, claim) = (&version.system, &version.claim);
    let missing = |field: &str, reason: &str| invalid(field, reason);
    let result = if version.benchmark == ENVIRONMENTS {
        let card = claim.scorecard_url.as_ref();
        let card = card.ok_or_else(|| missing("scorecard_url", "the row has no scorecard"))?;
        ("scorecard_url", text(card))
    } else {
        let nano = claim.score_nano;
        let nano = nano.ok_or_else(|| missing("score", "the row has no score"))?;
        ("score", Yaml::Real(format!("{:.9}", nano as f64 / 1e9)))
    };
    let authors = system.authors.iter().map(|author| {
        let mut fields = vec![("name", text(&author.name)), ("url", text(&author.link))];
        if let Some(affiliation) = &author.affiliation {
            fields.push(("affiliation", text(affiliation)));
        }
        mapping(fields)
    });
    let models = system
        .models
        .iter()
        .map(|name| mapping(vec![("name", text(name))]));
    let mut score = vec![
        ("benchmark", text(&version.benchmark)),
        result,
        ("set", text(&version.set)),
    ];
    if let Some(micro) = claim.cost_usd_micro {
        score.push(("cost", Yaml::Real(format!("{:.6}", micro as f64 / 1e6))));
    }
    let released = mapping(vec![
        ("version", text(&system.version)),
        ("date", text(claim.date.as_deref().unwrap_or_default())),
        ("models", Yaml::Array(models.collect())),
        ("scores", Yaml::Array(vec![mapping(score)])),
    ]);
    let mut root = vec![
        ("name", text(&system.name)),
        ("authors", Yaml::Array(authors.collect())),
        ("description", text(&system.description)),
        ("code_url", text(&system.code_url)),
    ];
    if let Some(paper) = &system.paper_url {
        root.push(("paper_url", text(paper)));
    }
    root.push(("versions", Yaml::Array(vec![released])));
    let mut out = String::new();
    let mut emitter = YamlEmitter::new(&mut out);
    emitter
        .dump(&mapping(root))
        .map_err(|error| invalid("file", &error.to_string()))?;
    out.push('\n');
    Ok(out)
}

fn text(value: &str) -> Yaml {
    Yaml::String(value.to_owned())
}

fn mapping(fields: Vec<(&str, Yaml)>) -> Yaml {
    let mut hash = Hash::new();
    for (name, value) in fields {
        hash.insert(text(name), value);
    }
    Yaml::Hash(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version() -> SubmittedVersion {
        SubmittedVersion {
            system: BoardSystem {
                name: "true: \"#1\"".to_owned(),
                version: "1.0".to_owned(),
                authors: vec![BoardAuthor {
                    name: "Ada".to_owned(),
                    link: "https://example.org".to_owned(),
                    affiliation: Some("Independent".to_owned()),
                }],
                description: "yes".to_owned(),
                code_url: "https://example.org/code".to_owned(),
                models: vec!["none".to_owned()],
                exposure: Exposure::Unknown,
                hardware: None,
                paper_url: Some("https://example.org/paper".to_owned()),
            },
            claim: BoardClaim {
                score_nano: None,
                cost_usd_micro: Some(2_500_000),
                scorecard_url: Some("https://example.org/card".to_owned()),
                date: Some("2026-11-18".to_owned()),
            },
            benchmark: "arc-agi-3".to_owned(),
            set: "public".to_owned(),
        }
    }

    #[test]
    fn written_submissions_are_read_again() {
        let text = submission_yaml(&version()).unwrap();
        assert_eq!(parse_submission(&text, "arc-agi-3").unwrap(), [version()]);
        let mut without_card = version();
        without_card.claim.scorecard_url = None;
        assert!(submission_yaml(&without_card).is_err());
    }

    #[test]
    fn gaps_of_the_format_are_closed() {
        let good = submission_yaml(&version()).unwrap();
        let parse = |text: &str| parse_submission(text, "arc-agi-3");
        let refused = |from: &str, to: &str| {
            assert!(good.contains(from), "{from} in {good}");
            assert!(parse(&good.replace(from, to)).is_err(), "{to}");
        };
        for cost in [
            ".nan", ".inf", "-.inf", "true", "yes no", "-1", "\"2.5\"", "1e300", "1e999",
            "2.5 USD", "[1]",
        ] {
            refused("2.500000", cost);
        }
        refused("models:", "other:");
        refused("url: \"https://example.org\"", "other: x");
        refused("arc-agi-3", "arc-agi-2");
        refused("scorecard_url:", "other:");
        refused("set: public", "set: public\n        score: 12");
        refused("name: none", "name: 4");
        refused("date:", "day:");
        refused("code_url:", "code:");
        refused("authors:", "authors: []\nothers:");
        refused("name: Ada", "name: Ada\n    name: Bo");
        assert!(parse("a: &x 1\nb: *x\n").is_err());
        assert!(parse("a: 1\n---\na: 2\n").is_err());
        assert!(parse(&"[".repeat(50)).is_err());
        assert!(parse(&" ".repeat(70_000)).is_err());
    }

    #[test]
    fn static_tasks_have_a_score_and_no_scorecard() {
        let mut tasks = version();
        tasks.benchmark = "arc-agi-2".to_owned();
        (tasks.claim.score_nano, tasks.claim.scorecard_url) = (Some(12_500_000_000), None);
        let text = submission_yaml(&tasks).unwrap();
        let parse = |text: &str| parse_submission(text, "arc-agi-2");
        assert_eq!(parse(&text).unwrap(), [tasks]);
        for score in ["100.5", "-1", ".nan", "true", "null"] {
            assert!(
                parse(&text.replace("12.500000000", score)).is_err(),
                "{score}"
            );
        }
        let with_card = text.replace(
            "score:",
            "scorecard_url: https://example.org\n        score:",
        );
        assert!(parse(&with_card).is_err());
    }

    #[test]
    fn lines_of_a_description_are_joined() {
        let text = submission_yaml(&version()).unwrap();
        let lines = text.replace(
            "description: \"yes\"",
            "description: |\n  It explores.\n\n  It plans.",
        );
        assert_ne!(lines, text);
        let versions = parse_submission(&lines, "arc-agi-3").unwrap();
        assert_eq!(versions[0].system.description, "It explores. It plans.");
    }
}
