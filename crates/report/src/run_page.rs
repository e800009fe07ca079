//! The HTML report of a run: score, tables, plots, and a player for every recording.
//!
//! Invariant: notices that qualify the score (provisional baselines, an unfinished run, failed
//! plays) are directly below it.
//!
//! A page with many recordings opens quickly, because a recording is decoded only when its player
//! is opened.

mod play;

use std::fmt::Write as _;

use rhae_protocol::{Ending, ModelUsage, RunConfig, RunSummary, Scorecard};

use crate::html::{Escaped, page};
use crate::result::{Row, count, dollars, rows, tally, total, usage_text};
use crate::table::PROVISIONAL_BASELINES_NOTE;
use crate::{Film, actions_plot, completion_plot};

/// The content of the report of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    pub config: RunConfig,
    pub summary: RunSummary,
    /// One card for each repeat, in order.
    pub cards: Vec<Scorecard>,
    /// The replayed recordings.
    pub films: Vec<PlayFilm>,
}

/// A replayed recording of the run.
#[derive(Clone, Debug)]
pub struct PlayFilm {
    /// The repeat to which the play belongs, from 1.
    pub repeat: u32,
    /// The id of the environment with its version.
    pub game_id: String,
    /// Why the play ended, if it did.
    pub ending: Option<Ending>,
    /// The error of the agent, if it failed.
    pub message: Option<String>,
    pub film: Film,
}

/// Returns the report as a self-contained HTML page.
pub fn run_page(report: &RunReport) -> String {
    let mut body = String::from("<main>\n");
    headline(&mut body, report);
    notices(&mut body, report);
    environments(&mut body, report);
    plots(&mut body, report);
    play::levels(&mut body, report);
    play::recordings(&mut body, report);
    body.push_str("</main>");
    page(
        &format!("{} · {:.2} %", report.summary.agent, report.summary.score),
        "run",
        &body,
    )
}

fn headline(body: &mut String, report: &RunReport) {
    let RunReport {
        config,
        summary,
        cards,
        ..
    } = report;
    let interval = match summary.score_half_width {
        Some(half) if cards.len() > 1 => {
            format!(
                "<p class=\"interval\">± {half:.2} <span class=\"quiet\">95 % interval of the mean, {} repeats</span></p>",
                cards.len()
            )
        }
        _ => String::new(),
    };
    let _ = writeln!(
        body,
        "<header>\n<div class=\"score\">\n<h1>{}</h1>\n<p class=\"number\">{:.2}<small> %</small></p>\n{interval}\
         <p class=\"quiet\">Relative human action efficiency</p>\n</div>",
        Escaped(&summary.agent),
        summary.score,
    );
    let games = summary.environments.len();
    let mut facts = vec![
        ("Method", Escaped(&summary.method).to_string()),
        ("Environments", games.to_string()),
        ("Repeats", config.repeat.to_string()),
        ("Budget", budget(&summary.budget)),
        ("Agent seed", summary.seed.to_string()),
        ("Environment seed", config.env_seed.to_string()),
        ("Duration", duration(summary.seconds)),
        ("Software", Escaped(&summary.software).to_string()),
        ("Run", Escaped(&summary.run_id).to_string()),
    ];
    if let Some(spent) = &summary.spent {
        facts.push(("Spent", Escaped(&usage_text(spent)).to_string()));
    }
    if let Some(command) = &config.agent_cmd {
        facts.push(("Command", format!("<code>{}</code>", Escaped(command))));
    }
    body.push_str("<dl class=\"facts\">\n");
    for (name, value) in facts {
        let class = if matches!(name, "Run" | "Command" | "Spent") {
            " class=\"line\""
        } else {
            ""
        };
        let _ = writeln!(body, "<div{class}><dt>{name}</dt><dd>{value}</dd></div>");
    }
    body.push_str("</dl>\n</header>\n");
}

fn notices(body: &mut String, report: &RunReport) {
    let summary = &report.summary;
    if !summary.finished {
        body.push_str("<p class=\"notice\"><strong>The run did not finish.</strong> Some plays are missing or cut short.</p>\n");
    }
    let failures = play::failures(report);
    if summary.failed_plays > 0 || !failures.is_empty() {
        let failed = usize::try_from(summary.failed_plays)
            .unwrap_or(0)
            .max(failures.len());
        let plays = if failed == 1 {
            "1 play ended".to_owned()
        } else {
            format!("{failed} plays ended")
        };
        let _ = writeln!(
            body,
            "<div class=\"notice\"><p><strong>{plays} because the agent failed.</strong></p>\n<ul>"
        );
        for failure in failures {
            let _ = writeln!(
                body,
                "<li><code>{}</code>{} <span class=\"message\">{}</span></li>",
                Escaped(failure.game_id),
                if report.cards.len() > 1 {
                    format!(", repeat {}:", failure.repeat)
                } else {
                    ":".to_owned()
                },
                Escaped(failure.message.unwrap_or("unknown reason")),
            );
        }
        body.push_str("</ul></div>\n");
    }
    if summary.provisional_baselines {
        let text = Escaped(PROVISIONAL_BASELINES_NOTE).to_string().replacen(
            "Baselines are provisional",
            "<strong>Baselines are provisional</strong>",
            1,
        );
        let _ = writeln!(
            body,
            "<p class=\"notice\">{}</p>",
            text.replace("`solver`", "<code>solver</code>")
        );
    }
}

fn environments(body: &mut String, report: &RunReport) {
    let RunReport { summary, cards, .. } = report;
    if cards.len() > 1 {
        body.push_str("<section>\n<h2>Repeats</h2>\n<ol class=\"repeats\">\n");
        for (index, score) in summary.card_scores.iter().enumerate() {
            let _ = writeln!(
                body,
                "<li><span class=\"quiet\">{}</span> {score:.2} %</li>",
                index + 1
            );
        }
        body.push_str("</ol>\n</section>\n");
    }
    let means = if cards.len() > 1 {
        " <small>means over the repeats</small>"
    } else {
        ""
    };
    let _ = writeln!(
        body,
        "<section>\n<h2>Environments{means}</h2>\n<div class=\"wide\"><table>"
    );
    // Costs are sums over the repeats, not means.
    let cost = |spent: Option<&ModelUsage>| {
        spent.map_or_else(
            || "<td class=\"num\">–</td>".to_owned(),
            |spent| format!("<td class=\"num\">{}</td>", dollars(spent)),
        )
    };
    let cost = |spent: Option<&ModelUsage>| {
        if summary.spent.is_some() {
            cost(spent)
        } else {
            String::new()
        }
    };
    let head = if summary.spent.is_some() {
        "<th class=\"num\" title=\"Over all repeats\">Cost</th>"
    } else {
        ""
    };
    let _ = writeln!(
        body,
        "<thead><tr><th>Environment</th><th class=\"num\">Score %</th><th class=\"num\">Levels</th><th class=\"num\">Actions</th>\
         <th class=\"num\" title=\"Sum over the completed levels\">Baseline</th>{head}<th>Ended</th></tr></thead>\n<tbody>",
    );
    let rows = rows(cards, summary);
    for (row, environment) in rows.iter().zip(&summary.environments) {
        let _ = writeln!(
            body,
            "<tr><td><code>{}</code></td><td class=\"num\">{:.2}</td>{}{}<td>{}</td></tr>",
            Escaped(&row.name),
            row.score,
            counts(row, cards.len()),
            cost(environment.spent.as_ref()),
            Escaped(&tally(&row.endings)),
        );
    }
    let _ = writeln!(
        body,
        "</tbody>\n<tfoot><tr><td>All</td><td class=\"num\">{:.2}</td>{}{}<td></td></tr></tfoot>\n</table></div>",
        summary.score,
        counts(&total(&rows), cards.len()),
        cost(summary.spent.as_ref()),
    );
    body.push_str("<p class=\"quiet note\">The baseline is summed over the completed levels.</p>\n</section>\n");
}

fn counts(row: &Row, cards: usize) -> String {
    format!(
        "<td class=\"num\">{}<span class=\"quiet\"> / {}</span></td><td class=\"num\">{}</td><td class=\"num\">{}</td>",
        count(row.levels_completed, cards),
        row.levels,
        count(row.actions, cards),
        row.baseline
            .map_or_else(|| "–".to_owned(), |baseline| count(baseline, cards)),
    )
}

fn plots(body: &mut String, report: &RunReport) {
    let _ = writeln!(
        body,
        "<section>\n<h2>Completion by level</h2>\n<figure class=\"wide\">{}</figure>\n</section>\n\
         <section>\n<h2>Actions against the baseline</h2>\n<figure class=\"wide\">{}</figure>\n</section>",
        completion_plot(&report.cards),
        actions_plot(&report.cards),
    );
}

/// Describes a budget: `5x` is five times the baseline of each level.
fn budget(budget: &str) -> String {
    match budget.strip_suffix('x').map(str::parse::<f64>) {
        Some(Ok(times)) => format!("{times} × baseline"),
        _ if budget.parse::<u64>().is_ok() => format!("{} actions per play", Escaped(budget)),
        _ => Escaped(budget).to_string(),
    }
}

fn duration(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let minutes = (seconds / 60.0).floor();
    if minutes < 60.0 {
        format!("{minutes} min {:.0} s", seconds - minutes * 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

#[cfg(test)]
pub(crate) mod tests;
