//! One task of the report: training pairs, tests, attempts and answer texts.

use std::fmt::Write as _;

use rhae_protocol::base64;
use rhae_tasks::Grid;

use super::{ArcAttempt, ArcReport, ArcTask};
use crate::html::Escaped;
use crate::picture::{PictureError, encode};
use crate::task_picture::{TASK_COLORS, marks};
use crate::task_scene::verdict;

/// The maximum number of characters of an answer that are shown.
const MAX_TEXT_CHARS: usize = 20_000;

pub(super) fn tasks(body: &mut String, report: &ArcReport) -> Result<(), PictureError> {
    let count = |wanted: fn(f64) -> bool| {
        report
            .tasks
            .iter()
            .filter(|task| task.score.is_some_and(wanted))
            .count()
    };
    let (solved, partly) = (
        count(|score| score >= 1.0),
        count(|score| score > 0.0 && score < 1.0),
    );
    let rest = report.tasks.len() - solved - partly;
    let _ = writeln!(
        body,
        "<section class=\"tasks\">\n<h2>Tasks</h2>\n<div class=\"filter\" role=\"radiogroup\" aria-label=\"Which tasks\">\n\
         <label><input type=\"radio\" name=\"which\" id=\"all\" checked> all {}</label>\n\
         <label><input type=\"radio\" name=\"which\" id=\"solved\"> solved {solved}</label>\n\
         <label><input type=\"radio\" name=\"which\" id=\"partly\"> partly solved {partly}</label>\n\
         <label><input type=\"radio\" name=\"which\" id=\"rest\"> not solved {rest}</label>\n</div>",
        report.tasks.len()
    );
    for task in &report.tasks {
        task_section(body, task, report)?;
    }
    body.push_str("</section>\n");
    Ok(())
}

fn task_section(body: &mut String, task: &ArcTask, report: &ArcReport) -> Result<(), PictureError> {
    let (class, state) = match task.score {
        Some(score) if score >= 1.0 => ("solved", "solved".to_owned()),
        Some(score) if score > 0.0 => ("partly", format!("{:.0} % of its tests", 100.0 * score)),
        Some(_) => ("rest", "not solved".to_owned()),
        None => ("rest", "no solution known".to_owned()),
    };
    let cost = if report.costs_money {
        format!("{:.4} USD", task.cost)
    } else {
        format!("{:.2} s", task.cost)
    };
    let set = if report.sets.len() > 1 {
        format!("<span class=\"quiet\">{}</span>", Escaped(&task.set))
    } else {
        String::new()
    };
    let _ = writeln!(
        body,
        "<details class=\"task {class}\"><summary><code>{}</code><span class=\"state\">{state}</span>{set}<span class=\"quiet num\">{cost}</span></summary>",
        Escaped(task.id.as_str())
    );
    // All grids of a task are drawn at the same scale, so that their sizes can be compared.
    let train = task
        .task
        .train
        .iter()
        .flat_map(|pair| [&pair.input, &pair.output]);
    let side = train
        .chain(task.task.test.iter().map(|test| &test.input))
        .map(|grid| grid.width().max(grid.height()))
        .max();
    let cell = (200 / side.unwrap_or(1)).clamp(6, 22);
    let _ = writeln!(body, "<div class=\"pairs\" style=\"--cell:{cell}px\">");
    for pair in &task.task.train {
        let _ = writeln!(
            body,
            "<div class=\"pair\">{}<span class=\"arrow\" aria-hidden=\"true\">→</span>{}</div>",
            grid(&pair.input, None, "input")?,
            grid(&pair.output, None, "output")?
        );
    }
    body.push_str("</div>\n");
    for &index in &task.tests {
        let Some(test) = task.task.test.get(index) else {
            continue;
        };
        let _ = writeln!(
            body,
            "<h3>Test {}</h3>\n<div class=\"test\" style=\"--cell:{cell}px\">",
            index + 1
        );
        figure(
            body,
            &grid(&test.input, None, "test input")?,
            "input",
            &size(&test.input),
        );
        if let Some(output) = &test.output {
            figure(
                body,
                &grid(output, None, "expected")?,
                "expected",
                &size(output),
            );
        }
        let attempts: Vec<&ArcAttempt> = task
            .attempts
            .iter()
            .filter(|one| one.test == index)
            .collect();
        for one in &attempts {
            let title = format!("attempt {}", one.attempt);
            match &one.grid {
                Ok(answer) => {
                    let note = test
                        .output
                        .as_ref()
                        .map_or_else(|| size(answer), |output| verdict(answer, output));
                    figure(
                        body,
                        &grid(answer, test.output.as_ref(), &title)?,
                        &title,
                        &note,
                    );
                }
                Err((kind, _)) => figure(body, "<div class=\"none\">no grid</div>", &title, kind),
            }
        }
        body.push_str("</div>\n");
        attempts.iter().for_each(|one| attempt_text(body, one));
    }
    body.push_str("</details>\n");
    Ok(())
}

fn size(grid: &Grid) -> String {
    format!("{} × {}", grid.height(), grid.width())
}

fn figure(body: &mut String, picture: &str, title: &str, note: &str) {
    let right = if note == "right" {
        " class=\"right\""
    } else {
        ""
    };
    let _ = writeln!(
        body,
        "<figure{right}>{picture}<figcaption>{} <span class=\"quiet\">{}</span></figcaption></figure>",
        Escaped(title),
        Escaped(note)
    );
}

/// Writes how an attempt was found, and the text of the answer.
fn attempt_text(body: &mut String, one: &ArcAttempt) {
    let mut line = format!("<strong>Attempt {}</strong>", one.attempt);
    match (&one.grid, &one.how) {
        (Err((_, reason)), _) => {
            let _ = write!(line, " {}", Escaped(reason));
        }
        (Ok(_), Some(how)) => {
            let _ = write!(line, " {}", Escaped(how));
        }
        (Ok(_), None) => {}
    }
    let _ = writeln!(
        body,
        "<p class=\"how\">{line} <span class=\"quiet\">{}</span></p>",
        Escaped(&one.spent)
    );
    for (title, text) in [("Answer", &one.text), ("Reasoning", &one.reasoning)] {
        let Some(text) = text else { continue };
        let shown: String = text.chars().take(MAX_TEXT_CHARS).collect();
        let more = if shown.len() < text.len() {
            format!("\n… {} bytes in total", text.len())
        } else {
            String::new()
        };
        let _ = writeln!(
            body,
            "<details class=\"text\"><summary>{title} of attempt {}</summary><pre>{}{more}</pre></details>",
            one.attempt,
            Escaped(&shown)
        );
    }
}

/// Returns a grid as a picture with one pixel per cell, which the page enlarges. Marks show where
/// the grid differs from `expected`.
fn grid(grid: &Grid, expected: Option<&Grid>, label: &str) -> Result<String, PictureError> {
    let pixels: Vec<u8> = grid
        .cells()
        .iter()
        .map(|&cell| TASK_COLORS[usize::from(cell)])
        .collect();
    let file = base64(&encode(&pixels, grid.width(), grid.height())?);
    let (width, height) = (grid.width(), grid.height());
    let full = |mine: usize, other: fn(&Grid) -> usize| {
        expected.map_or(mine, |expected| other(expected).max(mine))
    };
    let (wide, high) = (full(width, Grid::width), full(height, Grid::height));
    let marks = expected.filter(|expected| *expected != grid).map_or_else(String::new, |expected| {
        format!(
            "<svg viewBox=\"0 0 {wide} {high}\" style=\"--w:{wide};--h:{high}\" aria-hidden=\"true\">{}</svg>",
            marks(grid, expected)
        )
    });
    Ok(format!(
        "<div class=\"space\" style=\"--w:{wide};--h:{high}\"><div class=\"cells\" style=\"--w:{width};--h:{height}\"><img src=\"data:image/png;base64,{file}\" alt=\"{}, {height} by {width} cells\"></div>{marks}</div>",
        Escaped(label)
    ))
}
