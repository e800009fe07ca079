//! One task of the report: training pairs, tests, attempts and answer texts.

use askama::Template;
use askama::filters::HtmlSafe;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use rhae_tasks::{Grid, Test};

use super::{ArcAttempt, ArcReport, ArcTask};
use crate::picture::{PictureError, encode};
use crate::task_picture::{TASK_COLORS, marks};
use crate::task_scene::verdict;

/// The maximum number of characters of an answer that are shown.
const MAX_TEXT_CHARS: usize = 20_000;

/// A task, shown by `arc_task.html`.
pub(super) struct TaskView<'a> {
    pub(super) id: &'a str,
    /// The CSS class: `solved`, `partly` or `rest`.
    pub(super) class: &'static str,
    pub(super) state: String,
    /// The name of the set, if there are several.
    pub(super) set: Option<&'a str>,
    pub(super) cost: String,
    /// The side of a cell in pixels. All grids of a task are drawn at the same scale, so that their
    /// sizes can be compared.
    pub(super) cell: usize,
    /// The inputs and outputs of the training pairs.
    pub(super) pairs: Vec<(GridPicture, GridPicture)>,
    pub(super) tests: Vec<TestView<'a>>,
}

/// A test with the attempts at it.
pub(super) struct TestView<'a> {
    /// The number of the test, from 1.
    pub(super) number: usize,
    pub(super) figures: Vec<Figure>,
    pub(super) attempts: Vec<&'a ArcAttempt>,
}

impl<'a> TaskView<'a> {
    pub(super) fn new(task: &'a ArcTask, report: &'a ArcReport) -> Result<Self, PictureError> {
        let (class, state) = match task.score {
            Some(score) if score >= 1.0 => ("solved", "solved".to_owned()),
            Some(score) if score > 0.0 => {
                ("partly", format!("{:.0} % of its tests", 100.0 * score))
            }
            Some(_) => ("rest", "not solved".to_owned()),
            None => ("rest", "no solution known".to_owned()),
        };
        let train = task.task.train.iter();
        let inputs = task.task.test.iter().map(|test| &test.input);
        let side = train
            .clone()
            .flat_map(|pair| [&pair.input, &pair.output])
            .chain(inputs)
            .map(|grid| grid.width().max(grid.height()))
            .max();
        let pair = |pair: &rhae_tasks::Pair| {
            Ok((
                GridPicture::new(&pair.input, None, "input")?,
                GridPicture::new(&pair.output, None, "output")?,
            ))
        };
        let test = |&index: &usize| Some((index, task.task.test.get(index)?));
        let tests = task.tests.iter().filter_map(test);
        Ok(Self {
            id: task.id.as_str(),
            class,
            state,
            set: (report.sets.len() > 1).then_some(task.set.as_str()),
            cost: if report.costs_money {
                format!("{:.4} USD", task.cost)
            } else {
                format!("{:.2} s", task.cost)
            },
            cell: (200 / side.unwrap_or(1)).clamp(6, 22),
            pairs: train.map(pair).collect::<Result<_, PictureError>>()?,
            tests: tests
                .map(|(index, test)| TestView::new(task, index, test))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl<'a> TestView<'a> {
    fn new(task: &'a ArcTask, index: usize, test: &Test) -> Result<Self, PictureError> {
        let of_test = |one: &&ArcAttempt| one.test == index;
        let attempts: Vec<&ArcAttempt> = task.attempts.iter().filter(of_test).collect();
        let plain = |grid, label, title: &str| {
            Ok::<_, PictureError>(Figure {
                grid: Some(GridPicture::new(grid, None, label)?),
                title: title.to_owned(),
                note: size(grid),
                is_right: false,
            })
        };
        let mut figures = vec![plain(&test.input, "test input", "input")?];
        if let Some(output) = &test.output {
            figures.push(plain(output, "expected", "expected")?);
        }
        for one in &attempts {
            figures.push(Figure::of_attempt(one, test.output.as_ref())?);
        }
        Ok(Self {
            number: index + 1,
            figures,
            attempts,
        })
    }
}

/// A grid of a test with its caption.
pub(super) struct Figure {
    /// The grid; `None` for an attempt without a grid.
    pub(super) grid: Option<GridPicture>,
    pub(super) title: String,
    pub(super) note: String,
    /// Whether the grid is an attempt that equals the solution.
    pub(super) is_right: bool,
}

impl Figure {
    fn of_attempt(one: &ArcAttempt, expected: Option<&Grid>) -> Result<Self, PictureError> {
        let title = format!("attempt {}", one.attempt);
        Ok(match &one.grid {
            Ok(answer) => Self {
                grid: Some(GridPicture::new(answer, expected, &title)?),
                note: expected.map_or_else(|| size(answer), |output| verdict(answer, output)),
                title,
                is_right: expected == Some(answer),
            },
            Err((kind, _)) => Self {
                grid: None,
                title,
                note: kind.clone(),
                is_right: false,
            },
        })
    }
}

fn size(grid: &Grid) -> String {
    format!("{} × {}", grid.height(), grid.width())
}

/// Returns how an attempt found its grid, or why it has none.
pub(super) fn how(one: &ArcAttempt) -> Option<&str> {
    match &one.grid {
        Err((_, reason)) => Some(reason),
        Ok(_) => one.how.as_deref(),
    }
}

/// Returns the texts of an attempt with their titles, each up to a maximum length.
pub(super) fn texts(one: &ArcAttempt) -> Vec<(&'static str, String)> {
    let texts = [("Answer", &one.text), ("Reasoning", &one.reasoning)];
    let shown = |(title, text): (&'static str, &Option<String>)| {
        let text = text.as_ref()?;
        let mut shown: String = text.chars().take(MAX_TEXT_CHARS).collect();
        if shown.len() < text.len() {
            shown.push_str(&format!("\n… {} bytes in total", text.len()));
        }
        Some((title, shown))
    };
    texts.into_iter().filter_map(shown).collect()
}

/// A grid as a picture with one pixel per cell, which the page enlarges. Marks show where the grid
/// differs from the expected one.
#[derive(Template)]
#[template(path = "grid.html")]
pub(super) struct GridPicture {
    label: String,
    width: usize,
    height: usize,
    /// The width and height that include the expected size.
    full: (usize, usize),
    /// The PNG file in base64.
    file: String,
    /// SVG.
    marks: Option<String>,
}

/// The template escapes the label.
impl HtmlSafe for GridPicture {}

impl GridPicture {
    fn new(grid: &Grid, expected: Option<&Grid>, label: &str) -> Result<Self, PictureError> {
        let cells = grid.cells().iter();
        let pixels: Vec<u8> = cells.map(|&cell| TASK_COLORS[usize::from(cell)]).collect();
        let (width, height) = (grid.width(), grid.height());
        let full = expected.map_or((width, height), |expected| {
            (expected.width().max(width), expected.height().max(height))
        });
        let different = expected.filter(|expected| *expected != grid);
        Ok(Self {
            label: label.to_owned(),
            width,
            height,
            full,
            file: BASE64_STANDARD.encode(encode(&pixels, width, height)?),
            marks: different.map(|expected| marks(grid, expected)),
        })
    }
}
