//! The page of a scorecard. It shows the score with the sources of its baselines, tables and plots
//! of the environments and levels, and every run with a link to its replay.
//!
//! Invariant: everything that qualifies the score (provisional baselines, a card that is still
//! open) is stated directly below it.

use askama::Template;
use rhae_protocol::{Ending, EnvironmentScore, RunScore, Scorecard};
use rhae_report::{PROVISIONAL_BASELINES_NOTE, actions_plot, completion_plot};

use crate::page::{NavItem, Page, Time, Viewer, render};
use crate::tree::TreeNode;

/// A scorecard and its times.
#[derive(Clone, Debug)]
pub struct CardView {
    pub card: Scorecard,
    /// RFC 3339.
    pub opened_at: String,
    /// RFC 3339; `None` while the card is open.
    pub closed_at: Option<String>,
    /// The number of runs to skip in the table of runs.
    pub runs_after: usize,
    /// The path of the page, below which its downloads are.
    pub base: String,
    /// Whether the page is published: it then has no links to replays, which need a key.
    pub published: bool,
    /// Whether the visitor may publish the card.
    pub publishable: bool,
}

/// Rows of the table of runs.
const MAX_RUNS: usize = 200;

#[derive(Template)]
#[template(path = "card.html")]
struct CardPage<'a> {
    page: Page<'a>,
    base: &'a str,
    published: bool,
    publishable: bool,
    card: &'a Scorecard,
    /// The sources of the baselines.
    baselines: String,
    /// Whether a baseline is provisional.
    provisional: bool,
    opened: Time<'a>,
    closed: Option<Time<'a>>,
    /// Titles and SVG texts.
    plots: Vec<(&'static str, String)>,
    levels: Vec<LevelRow<'a>>,
    /// The runs that were played, one page of them.
    runs: Vec<&'a RunScore>,
    /// The number of runs up to the end of this page, if there are more.
    more_runs: Option<usize>,
    author_data: Option<TreeNode<'a>>,
}

impl CardPage<'_> {
    /// The note about provisional baselines in parts, each with whether it is code.
    fn provisional_note(&self) -> Vec<(bool, &'static str)> {
        let parts = PROVISIONAL_BASELINES_NOTE.split('`').enumerate();
        parts.map(|(index, part)| (index % 2 == 1, part)).collect()
    }
}

/// A level of the best run of an environment.
struct LevelRow<'a> {
    /// The id of the environment, in its first row.
    environment: Option<&'a str>,
    /// The number of the level, from 1.
    number: usize,
    actions: u64,
    baseline: Option<i64>,
    /// The source of the baseline.
    source: &'a str,
    score: f64,
    completed: bool,
}

/// Renders the page of a scorecard.
pub fn card_page(viewer: Viewer, view: &CardView) -> String {
    let card = &view.card;
    let time = |rfc3339| Time { rfc3339 };
    let runs = || card.environments.iter().flat_map(|one| &one.runs);
    let plots = if runs().any(|run| run.actions > 0) {
        let cards = std::slice::from_ref(card);
        vec![
            ("Completion by level", completion_plot(cards)),
            ("Actions against the baseline", actions_plot(cards)),
        ]
    } else {
        Vec::new()
    };
    let mut played = runs()
        .filter(|run| !run.guid.is_empty())
        .skip(view.runs_after);
    let shown: Vec<&RunScore> = played.by_ref().take(MAX_RUNS).collect();
    let more_runs = played.next().map(|_| view.runs_after + shown.len());
    let is_provisional = |source: &String| source.starts_with("solver");
    render(&CardPage {
        page: Page {
            title: "Scorecard",
            nav: NavItem::Cards,
            viewer,
            script: None,
            preload: None,
        },
        base: &view.base,
        published: view.published,
        publishable: view.publishable,
        card,
        baselines: sources(card),
        provisional: card
            .environments
            .iter()
            .any(|environment| environment.baseline_source.iter().any(is_provisional)),
        opened: time(&view.opened_at),
        closed: view.closed_at.as_deref().map(time),
        plots,
        levels: card.environments.iter().flat_map(levels).collect(),
        runs: shown,
        more_runs,
        author_data: card.opaque.as_ref().map(TreeNode::new),
    })
}

/// Lists the sources of the baselines, with the number of levels for each.
fn sources(card: &Scorecard) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for source in card
        .environments
        .iter()
        .flat_map(|environment| &environment.baseline_source)
    {
        match counted.iter_mut().find(|(name, _)| name == source) {
            Some((_, count)) => *count += 1,
            None => counted.push((source, 1)),
        }
    }
    if counted.is_empty() {
        return "none".to_owned();
    }
    counted
        .iter()
        .map(|(name, count)| format!("{name} ({count} levels)"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Shortens a digest for display.
fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// Counts the runs of an environment that were played.
fn played_runs(environment: &EnvironmentScore) -> usize {
    let played = |run: &&RunScore| !run.guid.is_empty();
    environment.runs.iter().filter(played).count()
}

/// Returns the state of a run in words.
fn state(run: &RunScore) -> &'static str {
    crate::replay_page::state(run.state)
}

/// Returns why a run ended, or the message of its agent.
fn ending(run: &RunScore) -> &str {
    let ending = run.ending.as_ref().map(Ending::name);
    ending.or(run.message.as_deref()).unwrap_or_default()
}

/// Returns the run that determines the environment's score: the first of those with the highest
/// score.
fn best(environment: &EnvironmentScore) -> Option<&RunScore> {
    environment
        .runs
        .iter()
        .reduce(|best, run| if run.score > best.score { run } else { best })
}

/// Lists the levels that the best run of an environment reached.
fn levels(environment: &EnvironmentScore) -> Vec<LevelRow<'_>> {
    let Some(run) = best(environment).filter(|run| run.actions > 0) else {
        return Vec::new();
    };
    let row = |(level, &actions): (usize, &u64)| {
        let completed = level < run.levels_completed as usize;
        let sources = &environment.baseline_source;
        (completed || actions > 0).then(|| LevelRow {
            environment: (level == 0).then_some(environment.id.as_str()),
            number: level + 1,
            actions,
            baseline: baseline(run, level),
            source: sources.get(level).map_or("–", String::as_str),
            score: run.level_scores.get(level).copied().unwrap_or(0.0),
            completed,
        })
    };
    let levels = run.level_actions.iter().enumerate();
    levels.filter_map(row).collect()
}

/// Returns the baseline of a level, if it is known.
pub(crate) fn baseline(run: &RunScore, level: usize) -> Option<i64> {
    let baseline = run.level_baseline_actions.get(level).copied();
    baseline.filter(|&baseline| baseline > 0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn view() -> CardView {
        let run = serde_json::json!({
            "id": "ab12-v1", "guid": "g1", "score": 62.5, "levels_completed": 1, "actions": 19, "unchanged_actions": 2, "resets": 1,
            "state": "NOT_FINISHED", "completed": false, "level_scores": [81.25, 0.0], "level_actions": [12, 7],
            "level_baseline_actions": [10, 20], "number_of_levels": 2, "number_of_environments": 1, "ending": "<i>stopped</i>"
        });
        let card = serde_json::json!({
            "card_id": "c1", "score": 62.5, "method": "docs-2026-04", "software": "rhae", "source_url": "javascript:alert(1)",
            "tags": ["<script>"], "opaque": {"note": "<img src=x onerror=alert(1)>"}, "total_environments_completed": 0,
            "total_environments": 1, "total_levels_completed": 1, "total_levels": 2, "total_actions": 19,
            "environments": [{"id": "ab12-v1", "runs": [run], "score": 62.5, "actions": 19, "levels_completed": 1, "completed": false,
                "level_count": 2, "resets": 1, "baseline_source": ["solver", "humans"]}]
        });
        let card = serde_json::from_value(card).unwrap();
        CardView {
            card,
            opened_at: "2026-11-16T04:05:06Z".to_owned(),
            closed_at: None,
            runs_after: 0,
            base: "/scorecards/c1".to_owned(),
            published: false,
            publishable: true,
        }
    }

    #[test]
    fn runs_are_shown_in_pages() {
        let mut view = view();
        let runs = &mut view.card.environments[0].runs;
        *runs = vec![runs[0].clone(); MAX_RUNS + 5];
        let shown = |page: &str| page.matches("/replay/g1").count();
        let first = card_page(Viewer::KeyHolder, &view);
        assert_eq!(shown(&first), MAX_RUNS);
        assert!(first.contains("/scorecards/c1?after=200"), "no link");
        view.runs_after = MAX_RUNS;
        let last = card_page(Viewer::KeyHolder, &view);
        assert_eq!(shown(&last), 5);
        assert!(!last.contains("?after="));
    }

    #[test]
    fn card_shows_its_results_and_escapes_text() {
        let page = card_page(Viewer::KeyHolder, &view());
        for shown in [
            "value=\"62.5\">62.50<",
            "solver (1 levels), humans (1 levels)",
            "/replay/g1",
            "This scorecard is open",
            "62.50",
        ] {
            assert!(page.contains(shown), "{shown}");
        }
        for hostile in ["<script>", "<img src=x", "href=\"javascript", "<i>stopped"] {
            assert!(!page.contains(hostile), "{hostile}");
        }
        assert_eq!(page.matches("class=\"plot\"").count(), 2);
    }

    #[test]
    fn published_card_has_no_links_to_pages_that_need_a_key() {
        let mut view = view();
        (view.base, view.published) = ("/shared/0f".to_owned(), true);
        view.publishable = false;
        let page = card_page(Viewer::Anonymous, &view);
        assert!(page.contains("href=\"/shared/0f/scorecard.csv\""));
        for private in ["/replay/g1", "/scorecards/c1", "action=\"/links\""] {
            assert!(!page.contains(private), "{private}");
        }
    }

    #[test]
    fn outlines_of_an_open_and_a_closed_card() {
        let outline =
            |view: &CardView| rhae_testkit::page_outline(&card_page(Viewer::KeyHolder, view));
        let mut view = view();
        insta::assert_snapshot!("open_card", outline(&view));
        view.closed_at = Some("2026-11-16T05:06:07Z".to_owned());
        view.card.competition_mode = Some(true);
        view.card.source_url = Some("https://example.org/?a&b=\"".to_owned());
        view.card.opaque = None;
        view.card.tags.clear();
        view.card.environments[0].baseline_source.clear();
        view.card.environments[0].runs[0].actions = 0;
        insta::assert_snapshot!("closed_card", outline(&view));
        view.card.environments.clear();
        insta::assert_snapshot!("empty_card", outline(&view));
    }
}
