//! Human studies as plain text for a terminal.

use std::fmt::Write as _;

use rhae_protocol::{
    BaselineFile, EnvironmentCoverage, EnvironmentResults, MoneyStatus, StudyCheck, StudyListing,
    StudyPayments, StudyResults, StudySimulation, StudyStatus, StudySummary, amount_text,
    money_text, rfc3339_utc,
};

use crate::{counted, plain};

/// Formats the list of studies, one line each.
pub fn studies_table(studies: &[StudyListing]) -> String {
    let mut text = format!(
        "{:20}  {:7}  {:>6}  {:>8}  title\n",
        "study", "phase", "people", "records"
    );
    for study in studies {
        let _ = writeln!(
            text,
            "{:20}  {:7}  {:>6}  {:>8}  {}",
            study.study.as_str(),
            study.phase,
            study.participants,
            study.records,
            plain(&study.title)
        );
    }
    text
}

/// Formats the state of a study.
pub fn study_status_text(status: &StudyStatus) -> String {
    let listing = &status.listing;
    let mut text = format!(
        "{}: {} ({}, {} records)\n",
        listing.study,
        plain(&listing.title),
        listing.phase,
        listing.records
    );
    if let Some(protocol) = &status.protocol {
        let frozen = match protocol.frozen.last() {
            Some(frozen) => format!("frozen at {}", rfc3339_utc(frozen.at_ms)),
            None => "not frozen".to_owned(),
        };
        let _ = writeln!(
            text,
            "protocol {} version {} ({frozen}), rule {}, target {}\n  {}",
            protocol.preset,
            protocol.version,
            protocol.attempt_rule.name(),
            protocol.target,
            protocol.hash
        );
    }
    let people: Vec<String> = status
        .people
        .iter()
        .map(|(stage, count)| format!("{count} {}", stage.name()))
        .collect();
    let people = if people.is_empty() {
        "none".to_owned()
    } else {
        people.join(", ")
    };
    let _ = writeln!(
        text,
        "people: {people}; {} withdrew, {} erased\nsittings: {} open, {} ended",
        status.withdrawn, status.erased, status.open_sittings, status.ended_sittings
    );
    text.push_str(&money_line(&status.money));
    for publication in &status.publications {
        let _ = writeln!(
            text,
            "baselines: revision {} at {}, {} attempts, inputs erased: {}",
            publication.revision,
            rfc3339_utc(publication.at_ms),
            publication.inputs,
            publication.inputs_erased
        );
    }
    text.push('\n');
    text.push_str(&coverage_table(&status.environments));
    text
}

fn money_line(money: &MoneyStatus) -> String {
    let amount = |minor| amount_text(minor, &money.currency);
    let balance = if money.books_balance {
        "the books balance"
    } else {
        "the books do NOT balance"
    };
    format!(
        "money ({}): {} due, {} sent, {} confirmed; {balance}\n",
        money.currency,
        amount(money.due_minor),
        amount(money.sent_minor),
        amount(money.confirmed_minor)
    )
}

/// Formats how far each environment is.
pub fn coverage_table(environments: &[EnvironmentCoverage]) -> String {
    let mut text = format!(
        "{:16} {:10} {:>7} {:>7} {:>5} {:>6} {:>8} {:>8} {:>6}  solve rate\n",
        "environment",
        "verdict",
        "playing",
        "started",
        "valid",
        "solved",
        "censored",
        "excluded",
        "need"
    );
    for one in environments {
        let rate = one.solve_rate.map_or_else(String::new, |rate| {
            format!("{:.2} [{:.2}, {:.2}]", rate.rate, rate.low, rate.high)
        });
        let need = format!("{}.{}", one.need_tenths / 10, one.need_tenths % 10);
        let _ = writeln!(
            text,
            "{:16} {:10} {:>7} {:>7} {:>5} {:>6} {:>8} {:>8} {need:>6}  {rate}",
            one.environment.as_str(),
            one.verdict,
            one.reserved + one.playing,
            one.started,
            one.valid,
            one.solved,
            one.censored,
            one.excluded,
        );
    }
    text
}

/// Formats the check of a protocol with the plan of the study. `currency` is that of the protocol.
pub fn study_check_text(check: &StudyCheck, currency: &str) -> String {
    let mut text = String::new();
    for violation in &check.violations {
        let _ = writeln!(text, "{}", plain(violation));
    }
    if check.violations.is_empty() {
        let _ = writeln!(text, "the study can be frozen and opened");
    }
    if let Some(hash) = &check.protocol {
        let _ = writeln!(text, "protocol {hash}");
    }
    if let Some(plan) = &check.plan {
        let money = |minor: u64| money_text(i64::try_from(minor).unwrap_or(i64::MAX), currency);
        let _ = writeln!(
            text,
            "plan: {} for {}, {} in a sitting; fees {}, bonuses about {}\n\
             an environment that {:.0} % of people solve is accepted with probability {:.2}",
            counted(plan.sittings, "sitting"),
            counted(plan.environments.into(), "environment"),
            plan.per_sitting,
            money(plan.fees_minor),
            money(plan.bonuses_minor),
            plan.solve_rate * 100.0,
            plan.pass_probability
        );
    }
    text
}

/// Formats the ledger of a study.
pub fn payments_text(payments: &StudyPayments) -> String {
    let mut text = money_line(&payments.money);
    for line in &payments.lines {
        let batch = line.batch.as_deref().unwrap_or_default();
        let _ = writeln!(
            text,
            "{:32} {:24} {:10} {:>14} {:9} {}",
            line.key,
            line.participant,
            line.item.name(),
            money_text(line.amount_minor, &line.currency),
            line.status,
            plain(batch)
        );
    }
    text
}

/// Formats the results of a study.
pub fn study_results_text(results: &StudyResults) -> String {
    let mut text = format!("{}: {}\n\n", results.study, plain(&results.title));
    text.push_str(&summaries_table(&results.summaries));
    for (question, bands) in &results.demographics {
        let counts: Vec<String> = bands
            .iter()
            .map(|band| match band.people {
                Some(people) => format!("{} {people}", band.band),
                None => format!("{} hidden", band.band),
            })
            .collect();
        let _ = writeln!(text, "{}: {}", plain(question), plain(&counts.join(", ")));
    }
    for environment in &results.environments {
        text.push('\n');
        text.push_str(&environment_text(environment));
    }
    text
}

/// Formats the result of a simulated study.
pub fn simulation_text(result: &StudySimulation) -> String {
    let mut text = format!(
        "{} people, {} environments, seed {}, model {}, servers {}, killed {} times\n\n",
        result.invited, result.pool, result.seed, result.model, result.servers, result.kills
    );
    text.push_str(&summaries_table(std::slice::from_ref(&result.summary)));
    let verdicts: Vec<String> = result
        .summary
        .environments
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    let balance = if result.summary.books_balance {
        "balance"
    } else {
        "do not balance"
    };
    let _ = write!(
        text,
        "environments: {}\n\
         actions: {}, median per play {}, lost {}, doubled {}, wrong responses {}\n\
         incidents: {} double clicks, {} lost connections, {} reloads, {} crashes, {} pauses\n\
         erased people: {}\n\
         environments over their target: {}\n\
         the books {balance}\n\
         {:.0} s\n",
        verdicts.join(", "),
        result.actions,
        number(result.median_actions),
        result.lost_actions,
        result.doubled_actions,
        result.wrong_responses,
        result.double_clicks,
        result.lost_responses,
        result.reloads,
        result.crashes,
        result.pauses,
        result.erased,
        result.over_quota,
        result.wall_seconds,
    );
    for finding in &result.findings {
        let _ = writeln!(text, "finding: {}", plain(finding));
    }
    text
}

/// Returns a number with one decimal.
fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |one| format!("{one:.1}"))
}

fn summaries_table(summaries: &[StudySummary]) -> String {
    let mut text = format!(
        "{:8} {:10} {:>6} {:>8} {:>6} {:>8} {:>7} {:>6}  median minutes: all, solved, unsolved\n",
        "rule", "exclusions", "people", "sittings", "starts", "attempts", "solved", "hours"
    );
    for one in summaries {
        let exclusions = if one.exclusions { "applied" } else { "ignored" };
        let solved = one
            .solved_share
            .map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0));
        let _ = writeln!(
            text,
            "{:8} {exclusions:10} {:>6} {:>8} {:>6} {:>8} {solved:>7} {:>6.1}  {}, {}, {}",
            one.attempt_rule.name(),
            one.participants,
            one.sittings,
            one.starts,
            one.attempts,
            one.hours,
            number(one.median_minutes.all),
            number(one.median_minutes.solved),
            number(one.median_minutes.unsolved),
        );
    }
    text.push('\n');
    text
}

fn environment_text(results: &EnvironmentResults) -> String {
    let mut text = coverage_table(std::slice::from_ref(&results.coverage));
    let _ = writeln!(
        text,
        "{:>5} {:>7} {:>9} {:>7} {:>8} {:>6} {:>6} {:>7} {:>5} {:>6} {:>6}  complete it and all before",
        "level",
        "reached",
        "completed",
        "stopped",
        "censored",
        "resets",
        "deaths",
        "optimal",
        "best",
        "second",
        "median"
    );
    let count = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |one| one.to_string());
    for level in &results.by_level {
        let _ = writeln!(
            text,
            "{:>5} {:>7} {:>9} {:>7} {:>8} {:>6} {:>6} {:>7} {:>5} {:>6} {:>6}  {:.2}",
            level.level,
            level.reached,
            level.completed,
            level.stopped,
            level.censored,
            level.resets,
            level.deaths,
            count(level.optimal),
            count(level.best),
            count(level.second_best),
            count(level.upper_median),
            level.survival
        );
    }
    if let Some(score) = results.own_score {
        let _ = writeln!(
            text,
            "people's own score, each against the others: {:.1} %",
            score * 100.0
        );
    }
    match results.difficulty {
        Some(difficulty) => {
            let _ = writeln!(text, "difficulty (Rasch): {difficulty:.2}");
        }
        None => text.push_str("difficulty (Rasch): not estimable with fewer than 5 people\n"),
    }
    for play in &results.stopped {
        let _ = writeln!(
            text,
            "stopped in level {} ({}, {} actions): play {}, from action {}",
            play.level,
            play.outcome.name(),
            play.actions,
            plain(&play.play),
            play.replay_from
        );
    }
    text
}

/// Formats baselines under one scoring method.
pub fn baselines_text(file: &BaselineFile, method: &str) -> String {
    let mut text = format!(
        "study {}, revision {}, method {method}, rule {}\n{:16} {:>5} {:>6} {:>9} {:>8}  95 % of resamples\n",
        file.study,
        file.revision,
        file.attempt_rule.name(),
        "environment",
        "level",
        "people",
        "completed",
        "baseline"
    );
    for environment in &file.environments {
        for level in &environment.levels {
            let Some(baseline) = level.methods.get(method) else {
                continue;
            };
            let count =
                |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |one| one.to_string());
            let mark = if baseline.provisional { "*" } else { "" };
            let _ = writeln!(
                text,
                "{:16} {:>5} {:>6} {:>9} {:>8}  {} to {}",
                environment.environment.as_str(),
                level.level,
                level.people,
                level.completed,
                format!("{}{mark}", count(baseline.actions)),
                count(baseline.resampling.low),
                count(baseline.resampling.high),
            );
        }
    }
    text.push_str("* = fewer than two people completed the level; the baseline is not used\n");
    text
}
