//! The report of a contamination probe as text.

use std::fmt::Write as _;

use rhae_protocol::{ColorProbe, ContaminationReport};

use crate::counted;

/// Returns the report as text for a terminal.
pub fn contamination_text(report: &ContaminationReport) -> String {
    let mut text = if report.transcripts == 0 {
        "No transcripts: the run contains no text of a model.\n".to_owned()
    } else {
        flagged_transcripts(report)
    };
    if report.without_text > 0 && report.transcripts > 0 {
        let _ = writeln!(text, "  {} without text", report.without_text);
    }
    if report.transcripts > 0 {
        add_colors(&mut text, report);
    }
    if !report.examples.is_empty() {
        text.push_str("\nExamples\n");
    }
    for example in &report.examples {
        let p = example.p.map_or(String::new(), |p| format!(", p = {p:.4}"));
        let _ = writeln!(
            text,
            "  {} ({}{p})\n    {}",
            example.transcript,
            example.kind.name(),
            example.excerpt
        );
    }
    if let Some(probe) = &report.probe {
        add_probe(&mut text, probe);
    }
    for note in &report.notes {
        let _ = write!(text, "\nNote: {note}\n");
    }
    text
}

fn flagged_transcripts(report: &ContaminationReport) -> String {
    let knowledge = report.by_knowledge;
    format!(
        "{} of {} flagged: {:.1} % [{:.1}, {:.1}]\n  right colours of integers {}, data set names {}, task ids {}\n",
        report.flagged,
        counted(report.transcripts as u64, "transcript"),
        100.0 * report.rate,
        100.0 * report.rate_interval[0],
        100.0 * report.rate_interval[1],
        knowledge.colors,
        knowledge.datasets,
        knowledge.task_ids
    )
}

fn add_colors(text: &mut String, report: &ContaminationReport) {
    let colors = &report.colors;
    if colors.named == 0 {
        text.push_str("\nNo transcript attaches a colour name to an integer.\n");
        return;
    }
    let _ = writeln!(
        text,
        "\nColours of {}: {} of {} named colours are right",
        report.palette, colors.right, colors.named
    );
    let all: Vec<String> = colors
        .mapping
        .iter()
        .map(|one| {
            let mark = if one.right { "" } else { " (wrong)" };
            format!("{} {}{mark}", one.value, one.color)
        })
        .collect();
    let _ = writeln!(text, "  usual mapping: {}", all.join(", "));
    let _ = writeln!(
        text,
        "  as good by chance: p = {:.2e} if the model uses one shuffled mapping,\n  p = {:.2e} if every transcript has its own",
        colors.p_one_mapping, colors.p_binomial
    );
}

fn add_probe(text: &mut String, probe: &ColorProbe) {
    let _ = writeln!(
        text,
        "\nPermuted colours (seed {}, {}): {:.2} % instead of {:.2} %\n  difference {:+.2} points [{:.2}, {:.2}], p = {:.3} (exact sign-flip test)",
        probe.seed,
        counted(probe.tasks as u64, "task"),
        probe.permuted,
        probe.original,
        probe.difference,
        probe.interval[0],
        probe.interval[1],
        probe.p
    );
}
