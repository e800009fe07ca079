//! The file `submission.yaml` of the community leaderboard of ARC-AGI: reading and writing.
//!
//! A submission is untrusted: aliases, deep nesting and large files are refused, a number is
//! never read from a boolean, and texts are not interpreted. The claim of a version never enters a
//! ranking; it needs a run folder to become more than a claim.

use rhae_protocol::{BoardAuthor, BoardClaim, BoardSystem, Exposure};
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::yaml::Hash;
use yaml_rust2::{Yaml, YamlEmitter, YamlLoader};

use crate::BoardError;

const MAX_BYTES: usize = 64 * 1024;
const MAX_DEPTH: usize = 8;
const MAX_VERSIONS: usize = 100;
/// The benchmark whose results a board of environments accepts.
const BENCHMARK: &str = "arc-agi-3";
/// The fields of an author that may have a link, in the order of preference.
const LINKS: [&str; 5] = ["url", "github", "scholar", "linkedin", "twitter"];

/// One version of a submitted system.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmittedVersion {
    pub system: BoardSystem,
    pub claim: BoardClaim,
    /// The set that the submission names, such as `public`.
    pub set: String,
}

/// Reads the versions of a submission that have a result on ARC-AGI-3.
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
/// let versions = parse_submission(text)?;
/// assert_eq!(versions[0].system.name, "My agent");
/// assert_eq!(versions[0].claim.cost_usd_micro, Some(2_500_000));
/// // A cost that is not a number is refused.
/// assert!(parse_submission(&text.replace("2.50", ".nan")).is_err());
/// assert!(parse_submission(&text.replace("2.50", "true")).is_err());
/// # Ok::<(), rhae_board_service::BoardError>(())
/// ```
pub fn parse_submission(text: &str) -> Result<Vec<SubmittedVersion>, BoardError> {
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
            if required(score, "benchmark")? == BENCHMARK {
                submitted.push(result(version, score, base.clone())?);
            }
        }
    }
    if submitted.is_empty() {
        return Err(invalid("versions", "no version has a result on arc-agi-3"));
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

fn optional(of: &Yaml, field: &str) -> Option<String> {
    let text = of[field].as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
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
    let score_nano = number(score, "score", 100.0)?.map(|value| (value * 1e9).round() as u64);
    let cost = number(score, "cost", 1e9)?.map(|value| (value * 1e6).round() as u64);
    Ok(SubmittedVersion {
        system,
        claim: BoardClaim {
            score_nano,
            cost_usd_micro: cost,
            scorecard_url: optional(score, "scorecard_url"),
            date: Some(required(version, "date")?),
        },
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

/// Writes a submission of the community leaderboard of ARC-AGI with one version.
///
/// # Errors
///
/// Returns [`BoardError::Submission`] if the claim has no scorecard, which that leaderboard requires.
pub fn submission_yaml(version: &SubmittedVersion) -> Result<String, BoardError> {
    let (system, claim) = (&version.system, &version.claim);
    let card = claim.scorecard_url.as_ref();
    let card = card.ok_or_else(|| invalid("scorecard_url", "the row has no scorecard"))?;
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
        ("benchmark", text(BENCHMARK)),
        ("scorecard_url", text(card)),
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
            set: "public".to_owned(),
        }
    }

    #[test]
    fn written_submissions_are_read_again() {
        let text = submission_yaml(&version()).unwrap();
        assert_eq!(parse_submission(&text).unwrap(), [version()]);
        let mut without_card = version();
        without_card.claim.scorecard_url = None;
        assert!(submission_yaml(&without_card).is_err());
    }

    #[test]
    fn gaps_of_the_format_are_closed() {
        let good = submission_yaml(&version()).unwrap();
        let refused = |from: &str, to: &str| {
            assert!(good.contains(from), "{from} in {good}");
            assert!(parse_submission(&good.replace(from, to)).is_err(), "{to}");
        };
        for cost in [".nan", ".inf", "true", "-1", "\"2.5\"", "1e300"] {
            refused("2.500000", cost);
        }
        refused("models:", "other:");
        refused("url: \"https://example.org\"", "other: x");
        refused("arc-agi-3", "arc-agi-2");
        assert!(parse_submission("a: &x 1\nb: *x\n").is_err());
        assert!(parse_submission(&"[".repeat(50)).is_err());
        assert!(parse_submission(&" ".repeat(70_000)).is_err());
    }
}
