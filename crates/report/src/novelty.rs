//! The similarity of environments as a table and as a page of heat maps.

use std::fmt::Write as _;

use rhae_protocol::{NoveltyPair, NoveltyReport};

use crate::{HeatMap, heat_page};

/// Formats the similarity of all pairs, followed by the pairs that are too similar.
pub fn novelty_table(report: &NoveltyReport) -> String {
    let mut text = "pair                 rules   frames   graphs\n".to_owned();
    for pair in &report.pairs {
        let [rules, frames, graphs] = [pair.rules, pair.frames, pair.graphs].map(percent);
        let mark = if pair.warning { "  !" } else { "" };
        let _ = writeln!(
            text,
            "{} {:<9} {rules:>8} {frames:>8} {graphs:>8}{mark}",
            pair.one, pair.other
        );
    }
    for warning in warnings(report) {
        let _ = writeln!(text, "warning: {warning}");
    }
    text.push_str(
        "\nThe column `rules` approximates the paper's novelty test by compressing two rule sources together (docs/novelty.md).\n",
    );
    text
}

/// Returns a self-contained HTML page with heat maps of all pairs. `names` gives the order of the
/// environments.
pub fn novelty_page(report: &NoveltyReport, names: &[String]) -> String {
    let maps = [
        heat_map(
            "Rules",
            "share of the shorter rule source that is redundant given the other; more than half is too similar",
            names,
            report,
            |pair| pair.rules,
        ),
        heat_map(
            "Frames",
            "similarity of the small patterns in first frames, independent of colours",
            names,
            report,
            |pair| pair.frames,
        ),
        heat_map(
            "Graphs",
            "similarity of the shapes of state graphs: where actions lead, and how many states are dead ends",
            names,
            report,
            |pair| pair.graphs,
        ),
    ];
    heat_page(&maps, &warnings(report))
}

fn heat_map(
    title: &'static str,
    note: &'static str,
    names: &[String],
    report: &NoveltyReport,
    share: fn(&NoveltyPair) -> Option<f64>,
) -> HeatMap {
    let cell = |one: &String, other: &String| {
        let found = report.pairs.iter().find(|pair| {
            pair.one == *one && pair.other == *other || pair.one == *other && pair.other == *one
        });
        found.and_then(share)
    };
    let cells = names
        .iter()
        .map(|one| names.iter().map(|other| cell(one, other)).collect());
    HeatMap {
        title,
        note,
        names: names.to_vec(),
        cells: cells.collect(),
    }
}

fn warnings(report: &NoveltyReport) -> Vec<String> {
    let too_similar = report.pairs.iter().filter(|pair| pair.warning);
    too_similar
        .map(|pair| {
            format!(
                "the rules of {} and {} are too similar: {} of the shorter source is redundant given the other",
                pair.one,
                pair.other,
                percent(pair.rules)
            )
        })
        .collect()
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_too_similar_are_marked_and_named() {
        let report = NoveltyReport {
            limit: 0.5,
            pairs: vec![NoveltyPair {
                one: "ab12-v1".to_owned(),
                other: "cd34-v1".to_owned(),
                rules: Some(0.6),
                frames: None,
                graphs: Some(0.25),
                warning: true,
            }],
        };
        let table = novelty_table(&report);
        assert!(
            table.contains("ab12-v1 cd34-v1       60 %        –     25 %  !\n"),
            "{table}"
        );
        assert!(table.contains("warning: the rules of ab12-v1 and cd34-v1 are too similar: 60 %"));
        let names = ["ab12-v1".to_owned(), "cd34-v1".to_owned()];
        let page = novelty_page(&report, &names);
        assert_eq!(page.matches("60 %</text>").count(), 2);
    }
}
