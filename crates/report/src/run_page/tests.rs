use rhae_engine::PlayState;
use rhae_protocol::{
    EnvironmentScore, ModelRun, ModelUsage, RunIdentity, RunScore, SummaryEnvironment,
};
use rhae_testkit::page_outline;

use super::*;
use crate::film::tests::walking_square;

const GAMES: [&str; 2] = ["wa1k-v1", "st0p-v2"];

/// A run of two environments: one was won, in the other two of five levels were completed.
pub(crate) fn report(repeats: u32) -> RunReport {
    let cards: Vec<Scorecard> = (1..=repeats).map(card).collect();
    let summary = summary(&cards);
    RunReport {
        config: config(&summary, repeats),
        summary,
        cards,
        films: (1..=repeats)
            .flat_map(|repeat| GAMES.map(|game| play_film(repeat, game)))
            .collect(),
    }
}

fn run_score(game: &str, completed: u32, extra: u64) -> RunScore {
    RunScore {
        id: game.to_owned(),
        guid: format!("{game}-guid"),
        score: f64::from(completed) * 17.25,
        levels_completed: completed,
        actions: 30 + extra,
        unchanged_actions: 5,
        resets: 0,
        state: if completed == 5 {
            PlayState::Win
        } else {
            PlayState::NotFinished
        },
        completed: completed == 5,
        level_scores: (0..5)
            .map(|level| if level < completed { 92.5 } else { 0.0 })
            .collect(),
        level_actions: (0..5)
            .map(|level| {
                if level <= completed {
                    6 + extra * u64::from(level)
                } else {
                    0
                }
            })
            .collect(),
        level_baseline_actions: vec![5, 8, 10, 14, 22],
        number_of_levels: 5,
        number_of_environments: 1,
        ending: Some(if completed == 5 {
            Ending::Won
        } else {
            Ending::Budget
        }),
        message: None,
        level_spent: Vec::new(),
    }
}

fn environment(run: RunScore) -> EnvironmentScore {
    EnvironmentScore {
        id: run.id.clone(),
        score: run.score,
        actions: run.actions,
        levels_completed: run.levels_completed,
        completed: run.completed,
        level_count: 5,
        resets: 0,
        baseline_source: vec!["solver".to_owned(); 5],
        source_digests: Vec::new(),
        spent: None,
        runs: vec![run],
    }
}

fn card(repeat: u32) -> Scorecard {
    Scorecard {
        card_id: format!("card-{repeat}"),
        score: 60.375,
        method: "docs-2026-04".to_owned(),
        software: "rhae 0.1.0".to_owned(),
        owner: None,
        source_url: None,
        tags: Vec::new(),
        opaque: None,
        environments: vec![
            environment(run_score(GAMES[0], 5, u64::from(repeat))),
            environment(run_score(GAMES[1], 2, 9 * u64::from(repeat))),
        ],
        tags_scores: Vec::new(),
        competition_mode: None,
        total_environments_completed: 1,
        total_environments: 2,
        total_levels_completed: 7,
        total_levels: 10,
        total_actions: 70,
        spent: None,
    }
}

fn environment_summary(cards: &[Scorecard], index: usize, ending: Ending) -> SummaryEnvironment {
    let mean = |value: fn(&EnvironmentScore) -> f64| {
        cards
            .iter()
            .map(|card| value(&card.environments[index]))
            .sum::<f64>()
            / cards.len() as f64
    };
    SummaryEnvironment {
        game_id: GAMES[index].to_owned(),
        score: mean(|environment| environment.score),
        levels_completed: mean(|environment| f64::from(environment.levels_completed)),
        levels: 5,
        actions: mean(|environment| environment.actions as f64),
        baseline_actions: vec![5, 8, 10, 14, 22],
        baseline_source: vec!["solver".to_owned(); 5],
        endings: vec![ending; cards.len()],
        spent: None,
    }
}

fn summary(cards: &[Scorecard]) -> RunSummary {
    RunSummary {
        software: "rhae 0.1.0".to_owned(),
        run_id: "20260301T120000Z-explorer".to_owned(),
        agent: "explorer".to_owned(),
        seed: 7,
        method: "docs-2026-04".to_owned(),
        budget: "5x".to_owned(),
        prompts_sha256: None,
        score: 60.375,
        score_half_width: (cards.len() > 1).then_some(1.5),
        score_interval: (cards.len() > 1).then_some([58.875, 61.875]),
        valid_results: Some(ValidResults {
            score: Some(60.375),
            n: 2 * u32::try_from(cards.len()).unwrap(),
            of: 2 * u32::try_from(cards.len()).unwrap(),
        }),
        card_scores: vec![60.375; cards.len()],
        finished: true,
        failed_plays: 0,
        failed_environments: 0,
        provisional_baselines: true,
        environments: vec![
            environment_summary(cards, 0, Ending::Won),
            environment_summary(cards, 1, Ending::Budget),
        ],
        tiers: None,
        folder: "runs/x".to_owned(),
        report: "runs/x/report.html".to_owned(),
        seconds: 83.4,
        spent: None,
        provider: None,
        started_ms: Some(1_794_736_800_123),
        ended_ms: None,
        identity: RunIdentity::default(),
    }
}

fn config(summary: &RunSummary, repeats: u32) -> RunConfig {
    RunConfig {
        version: 1,
        software: summary.software.clone(),
        run_id: summary.run_id.clone(),
        agent: Some("explorer".to_owned()),
        agent_cmd: None,
        seed: 7,
        env_seed: 0,
        games: GAMES.map(str::to_owned).to_vec(),
        repeat: repeats,
        budget: "5x".to_owned(),
        method: summary.method.clone(),
        step_timeout_ms: 10_000,
        task_timeout_ms: None,
        run_timeout_ms: None,
        generator: "pcg".to_owned(),
        server: None,
        competition: false,
        games_dirs: Vec::new(),
        baselines: None,
        tiers: None,
        model: None,
        identity: RunIdentity::default(),
    }
}

fn play_film(repeat: u32, game: &str) -> PlayFilm {
    PlayFilm {
        repeat,
        game_id: game.to_owned(),
        ending: Some(if game == GAMES[0] {
            Ending::Won
        } else {
            Ending::Budget
        }),
        message: None,
        film: Film {
            title: game.to_owned(),
            ..walking_square(5)
        },
    }
}

#[test]
fn single_card_has_no_interval_and_no_repeats() {
    let page = run_page(&report(1));
    assert!(page.contains("60.38<small> %</small>"));
    assert!(!page.contains("95 % interval"));
    assert!(!page.contains("Repeat 1"));
    assert_eq!(page.matches("<rhae-player><script").count(), 2);
}

#[test]
fn every_card_is_shown() {
    let page = run_page(&report(3));
    assert!(page.contains("58.88 to 61.88"));
    assert!(page.contains("95 % interval of the mean, 3 repeats"));
    for repeat in 1..=3 {
        assert!(page.contains(&format!("<h3>Repeat {repeat}</h3>")));
    }
    assert_eq!(page.matches("<rhae-player><script").count(), 6);
}

#[test]
fn notices_limit_the_score() {
    let mut report = report(1);
    assert!(run_page(&report).contains("twice the optimal count found by search"));
    report.summary.provisional_baselines = false;
    assert!(!run_page(&report).contains("class=\"notice\""));

    report.summary.finished = false;
    report.summary.failed_plays = 1;
    report.cards[0].environments[1].runs[0].ending = Some(Ending::Failed);
    report.cards[0].environments[1].runs[0].message = Some("no answer within 10 s".to_owned());
    report.films[1].ending = Some(Ending::Failed);
    let page = run_page(&report);
    assert!(page.contains("The run did not finish."));
    assert!(page.contains("1 play ended because the agent failed."));
    assert!(page.contains("no answer within 10 s"));
}

#[test]
fn failure_of_an_environment_is_not_attributed_to_the_agent() {
    let mut report = report(1);
    report.summary.failed_environments = 1;
    report.summary.valid_results = Some(ValidResults {
        score: Some(86.25),
        n: 1,
        of: 2,
    });
    let run = &mut report.cards[0].environments[1].runs[0];
    run.ending = Some(Ending::EnvironmentFailed);
    run.message = Some("`st0p-v2`: the game raised SyntaxError".to_owned());
    let page = run_page(&report);
    assert!(page.contains("1 play ended because the environment failed."));
    assert!(!page.contains("the agent failed"));
    assert!(page.contains("the game raised SyntaxError"));
    let outline = page_outline(&page);
    assert!(
        outline.contains("86.25 %") && outline.contains("n = 1 of 2"),
        "{outline}"
    );
    assert!(
        outline.contains("1 result is missing. It counts as 0 in the total"),
        "{outline}"
    );
}

#[test]
fn facts_name_the_date_the_provider_and_the_settings() {
    let mut report = report(2);
    report.config.model = Some(ModelRun {
        config: serde_json::json!({
            "provider": "mock", "model": "words-1", "request": {"temperature": 0.5},
            "prices": {"date": "2026-11-01", "input": 1.0, "output": 10.0},
        }),
        system_prompt: String::new(),
        keep_reasoning: false,
        context_tokens: 175_000,
        max_cost_usd: Some(2.0),
        rate_limit: None,
        request_timeout_s: None,
        prompts_sha256: None,
        prompts_dir: None,
        max_iterations: None,
        max_depth: None,
        roles: std::collections::BTreeMap::new(),
    });
    report.summary.provider = Some("mock".to_owned());
    let spent = |cost_usd| ModelUsage {
        calls: 1,
        cost_usd: Some(cost_usd),
        ..ModelUsage::default()
    };
    report.summary.spent = Some(spent(3.0));
    report.summary.environments[0].spent = Some(spent(3.0));
    let page = page_outline(&run_page(&report));
    for fact in [
        "<dd>2026-11-15 10:00 UTC</dd>",
        "<dd>mock (configured replies, no model)</dd>",
        "<dd>words-1</dd>",
        "<dd>temperature 0.5, context of 175000 tokens, at most 2 USD</dd>",
        "<dd>input 1.0, output 10.0 USD per million tokens (2026-11-01)</dd>",
        "the provider is a mock, so the cost is not real</dd>",
        "The costs are not real.",
    ] {
        assert!(page.contains(fact), "{fact} is not in {page}");
    }
    // The table shows means over the two repeats, also of the cost.
    assert_eq!(
        page.matches("<td class=\"num\">$1.50</td>").count(),
        2,
        "{page}"
    );
}

#[test]
fn unchanged_actions_are_counted_from_the_recording() {
    let mut report = report(1);
    // Six actions on the first level, one of them unchanged, and a baseline of five.
    let row = |unchanged| {
        format!(
            "<td class=\"num\">6</td>\n<td class=\"num\">{unchanged}</td>\n<td class=\"num\">5</td>"
        )
    };
    assert!(page_outline(&run_page(&report)).contains(&row("1")));
    report.films.clear();
    assert!(page_outline(&run_page(&report)).contains(&row("–")));
}

#[test]
fn untrusted_text_is_escaped_everywhere() {
    let hostile = "</script><img src=x onerror=alert(1)>\"'";
    let mut report = report(2);
    let text = || hostile.to_owned();
    report.config.agent_cmd = Some(text());
    report.summary.agent = text();
    report.summary.method = text();
    report.summary.budget = text();
    report.summary.software = text();
    report.summary.run_id = text();
    for environment in &mut report.summary.environments {
        environment.game_id = text();
        environment.endings = vec![text().into(), text().into()];
    }
    for environment in report
        .cards
        .iter_mut()
        .flat_map(|card| &mut card.environments)
    {
        environment.id = text();
        environment.baseline_source = vec![text(); 5];
        let run = &mut environment.runs[0];
        (run.id, run.ending, run.message) = (text(), Some(Ending::Failed), Some(text()));
    }
    for play in &mut report.films {
        (play.game_id, play.ending, play.message) = (text(), Some(text().into()), Some(text()));
        (
            play.film.title,
            play.film.subtitle,
            play.film.moments[1].reasoning,
        ) = (text(), text(), Some(text()));
    }
    let page = run_page(&report);
    assert!(!page.contains("<img"));
    assert!(!page.contains("=x onerror=alert(1)>\""));
    // One for each recording and one for the player.
    assert_eq!(page.matches("</script>").count(), report.films.len() + 1);
}

#[test]
fn model_usage_is_shown_by_level_and_environment() {
    let mut report = report(1);
    assert!(!run_page(&report).contains(">Cost<"), "no model, no cost");
    let spent = ModelUsage {
        calls: 3,
        input_tokens: 40_000,
        output_tokens: 2_345,
        cost_usd: Some(0.125),
        ..ModelUsage::default()
    };
    report.cards[0].environments[0].runs[0].level_spent = vec![ModelUsage::default(), spent];
    report.cards[0].spent = Some(spent);
    report.cards[0].environments[0].spent = Some(spent);
    (report.summary.spent, report.summary.environments[0].spent) = (Some(spent), Some(spent));
    let page = page_outline(&run_page(&report));
    assert!(page.contains("<dd>$0.1250, 3 calls, 40,000 tokens in, 2,345 out</dd>"));
    assert!(page.contains("<td class=\"num\">42,345</td>\n<td class=\"num\">$0.1250</td>\n</tr>"));
    assert_eq!(
        page.matches("$0.1250</td>\n<td>").count(),
        2,
        "the environment and the sum of all"
    );
    assert!(
        page.contains("<td class=\"num\">–</td>\n<td class=\"num\">–</td>\n</tr>"),
        "a level without calls"
    );
}
