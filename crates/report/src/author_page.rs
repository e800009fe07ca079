//! The report that the author of an environment gets from a human study: how far people came, how
//! long it took, where they stopped and clicked, and the ends of the plays that stopped.
//!
//! Invariant: the page names no participant, and replays are numbered in the order of the table.

use std::fmt::Write as _;

use askama::Template;
use rhae_engine::Frame;
use rhae_protocol::{
    AttemptOutcome, EnvironmentResults, LevelClicks, LevelResults, StoppedPlayResult, StudyVerdict,
    TimeResults,
};

use crate::Film;
use crate::html::{Fact, FramePicture, Player, render};

/// The style of the page, in addition to that of all pages.
const STYLE: &str = include_str!("../assets/author.css");
/// The number of rows and columns of a frame.
const SIZE: usize = 64;
/// The area of a plot: its left and right end, and its height.
const LEFT: f64 = 60.0;
const RIGHT: f64 = 704.0;
const HEIGHT: f64 = 180.0;

/// What the author of an environment gets to see.
#[derive(Clone, Debug)]
pub struct AuthorReport<'a> {
    /// The title of the study.
    pub study: &'a str,
    pub environment: &'a EnvironmentResults,
    pub clicks: &'a [LevelClicks],
    /// The ends of the plays that ended unsolved.
    pub replays: &'a [StoppedReplay],
}

/// The end of a play that ended unsolved.
#[derive(Clone, Debug)]
pub struct StoppedReplay {
    pub play: StoppedPlayResult,
    pub film: Film,
}

/// Returns the report as a self-contained HTML page.
pub fn author_page(report: &AuthorReport<'_>) -> String {
    let environment = report.environment;
    render(&Page {
        report,
        verdict: verdict_text(environment),
        facts: facts(environment),
        grid: [("0 %", 0.0), ("50 %", 0.5), ("100 %", 1.0)]
            .map(|(label, share)| (label, share_y(share))),
        drop_off: DropOff::new(&environment.by_level),
        times: Times::new(&environment.by_time),
        maps: report.clicks.iter().filter_map(ClickMap::new).collect(),
        replays: report.replays.iter().zip(1..).map(Replay::new).collect(),
    })
}

#[derive(Template)]
#[template(path = "author.html")]
struct Page<'a> {
    report: &'a AuthorReport<'a>,
    verdict: String,
    facts: Vec<Fact<'static>>,
    /// The horizontal lines of both plots.
    grid: [(&'static str, f64); 3],
    drop_off: DropOff<'a>,
    times: Times,
    maps: Vec<ClickMap>,
    replays: Vec<Replay<'a>>,
}

struct Replay<'a> {
    number: usize,
    play: &'a StoppedPlayResult,
    /// The number of actions that the replay shows.
    shown: usize,
    player: Player<'a>,
}

impl<'a> Replay<'a> {
    fn new((replay, number): (&'a StoppedReplay, usize)) -> Self {
        Self {
            number,
            play: &replay.play,
            shown: replay.film.moments.len().saturating_sub(1),
            player: Player {
                film: &replay.film,
                has_perception: false,
                max_reasoning: 0,
            },
        }
    }
}

/// Says what the verdict means for the author.
fn verdict_text(environment: &EnvironmentResults) -> String {
    let coverage = &environment.coverage;
    let solved = format!(
        "{} of {} valid attempts solved all levels",
        coverage.solved, coverage.valid
    );
    match coverage.verdict {
        StudyVerdict::Returned => format!(
            "Returned: the study has enough people, and too few of them solved the environment. {solved}."
        ),
        StudyVerdict::Accepted => format!(
            "Accepted: the study has enough people, and enough of them solved the environment. {solved}."
        ),
        StudyVerdict::Stopped => format!(
            "Withdrawn: {}. {solved}.",
            coverage.withdrawn.as_deref().unwrap_or("no reason given")
        ),
        StudyVerdict::Collecting | StudyVerdict::Passing => {
            format!("Not complete: the study still collects attempts. {solved} so far.")
        }
    }
}

fn facts(environment: &EnvironmentResults) -> Vec<Fact<'static>> {
    let coverage = &environment.coverage;
    let fact = |name, value: String| Fact {
        name,
        value,
        is_line: false,
        is_code: false,
    };
    let mut facts = vec![
        fact("People who saw it", coverage.started.to_string()),
        fact("Valid attempts", coverage.valid.to_string()),
        fact("Solved", coverage.solved.to_string()),
        fact("Interrupted", coverage.censored.to_string()),
        fact("Excluded", coverage.excluded.to_string()),
    ];
    if let Some(rate) = coverage.solve_rate {
        let [share, low, high] = [rate.rate, rate.low, rate.high].map(|one| 100.0 * one);
        let value = format!("{share:.0} % ({low:.0} to {high:.0} %)");
        facts.push(fact("Solve rate (Wilson, 95 %)", value));
    }
    if let Some(score) = environment.own_score {
        facts.push(fact(
            "People's own score",
            format!("{:.0} %", 100.0 * score),
        ));
    }
    facts
}

/// The share of people who complete each level and all before it, as a step curve with intervals.
struct DropOff<'a> {
    levels: &'a [LevelResults],
    points: Vec<DropOffPoint>,
    /// SVG.
    curve: String,
}

struct DropOffPoint {
    x: f64,
    y: f64,
    /// The ends of the interval.
    span: Option<[f64; 2]>,
    title: String,
    level: u32,
}

impl<'a> DropOff<'a> {
    fn new(levels: &'a [LevelResults]) -> Self {
        let step = (RIGHT - LEFT) / levels.len().max(1) as f64;
        let points = levels.iter().zip(1_u32..).map(|(level, number)| {
            let percent = |share: f64| format!("{:.0} %", 100.0 * share);
            let interval = level.survival_interval;
            let range = interval.map_or_else(String::new, |one| {
                format!(" ({:.0} to {:.0} %)", 100.0 * one.low, 100.0 * one.high)
            });
            DropOffPoint {
                x: LEFT + step * f64::from(number),
                y: share_y(level.survival),
                span: interval.map(|one| [share_y(one.high), share_y(one.low)]),
                title: format!("level {}: {}{range}", level.level, percent(level.survival)),
                level: level.level,
            }
        });
        let points: Vec<DropOffPoint> = points.collect();
        let mut curve = format!("M{LEFT} {:.1}", share_y(1.0));
        for point in &points {
            let _ = write!(curve, "H{:.1}V{:.1}", point.x, point.y);
        }
        Self {
            levels,
            points,
            curve,
        }
    }
}

/// The shares of people who have solved or left the environment, by time.
struct Times {
    /// SVG.
    solved: String,
    left: String,
    minutes: f64,
    last: Option<TimeResults>,
}

impl Times {
    fn new(points: &[TimeResults]) -> Self {
        let minutes = points.last().map_or(0.0, |last| last.minutes).max(1.0);
        let curve = |share: fn(&TimeResults) -> f64| {
            let mut curve = format!("M{LEFT} {:.1}", share_y(0.0));
            for point in points {
                let x = LEFT + (RIGHT - LEFT) * point.minutes / minutes;
                let _ = write!(curve, "H{x:.1}V{:.1}", share_y(share(point)));
            }
            curve
        };
        Self {
            solved: curve(|one| one.solved),
            left: curve(|one| one.left),
            minutes,
            last: points.last().copied(),
        }
    }
}

fn share_y(share: f64) -> f64 {
    10.0 + HEIGHT * (1.0 - share)
}

/// The first frame of a level with the clicks of all people.
struct ClickMap {
    level: u32,
    clicks: u32,
    picture: FramePicture,
    dots: Vec<Dot>,
}

/// A clicked cell. The area of the circle is proportional to the number of clicks.
struct Dot {
    x: f64,
    y: f64,
    radius: f64,
    clicks: u32,
}

impl ClickMap {
    fn new(level: &LevelClicks) -> Option<Self> {
        let most = level.cells.iter().map(|cell| cell.clicks).max()?;
        let dots = level.cells.iter().map(|cell| Dot {
            x: f64::from(cell.x) + 0.5,
            y: f64::from(cell.y) + 0.5,
            radius: 0.6 + 1.8 * (f64::from(cell.clicks) / f64::from(most.max(1))).sqrt(),
            clicks: cell.clicks,
        });
        Some(Self {
            level: level.level,
            clicks: level.clicks,
            picture: FramePicture::new(&[&frame(&level.board)]).ok()?,
            dots: dots.collect(),
        })
    }
}

/// Parses a board of hexadecimal digits.
fn frame(board: &str) -> Frame {
    let mut frame = Frame::filled(0);
    let cells = board.chars().filter_map(|digit| digit.to_digit(16));
    for (index, cell) in cells.take(SIZE * SIZE).enumerate() {
        let (x, y) = (index % SIZE, index / SIZE);
        frame.rect(x, y, 1, 1, u8::try_from(cell).unwrap_or_default());
    }
    frame
}

fn count(count: &Option<u32>) -> String {
    count.map_or_else(|| "–".to_owned(), |count| count.to_string())
}

fn minutes(minutes: &Option<f64>) -> String {
    minutes
        .as_ref()
        .map_or_else(|| "–".to_owned(), |minutes| format!("{minutes:.1}"))
}

/// Returns an outcome in words.
const fn outcome(outcome: &AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Solved => "solved",
        AttemptOutcome::Left => "left by choice",
        AttemptOutcome::HardLimit => "reached the time limit",
        AttemptOutcome::SittingEnd => "interrupted by the end of the session",
        AttemptOutcome::Lost => "connection lost",
        AttemptOutcome::Withdrawn => "withdrew",
    }
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{ClickedCell, DurationBin, EnvironmentCoverage, RateInterval};

    use super::*;
    use crate::film::tests::walking_square;

    fn results() -> EnvironmentResults {
        let level = |level, reached, completed, survival| LevelResults {
            level,
            reached,
            completed,
            stopped: reached - completed,
            censored: 0,
            resets: 4,
            deaths: 2,
            actions: (0..completed).map(|one| 20 + one).collect(),
            optimal: Some(7),
            best: (completed > 0).then_some(20),
            second_best: (completed > 1).then_some(21),
            upper_median: (completed > 0).then_some(22),
            median_minutes: (completed > 0).then_some(3.25),
            survival,
            survival_interval: Some(RateInterval {
                rate: survival,
                low: survival / 2.0,
                high: 1.0,
            }),
        };
        EnvironmentResults {
            coverage: EnvironmentCoverage {
                environment: "wa1k-v1".into(),
                arm: "main".into(),
                levels: 2,
                verdict: StudyVerdict::Returned,
                reserved: 0,
                playing: 0,
                started: 4,
                valid: 4,
                solved: 1,
                censored: 0,
                excluded: 0,
                need_tenths: 0,
                solve_rate: Some(RateInterval {
                    rate: 0.25,
                    low: 0.05,
                    high: 0.7,
                }),
                withdrawn: None,
            },
            by_level: vec![level(1, 4, 3, 0.75), level(2, 3, 1, 0.25)],
            by_time: vec![TimeResults {
                minutes: 12.0,
                solved: 0.25,
                left: 0.75,
            }],
            durations: vec![DurationBin {
                from_minutes: 0,
                solved: 1,
                unsolved: 3,
            }],
            own_score: Some(0.5),
            difficulty: None,
            stopped: Vec::new(),
        }
    }

    fn page(study: &str) -> String {
        let environment = results();
        let clicks = LevelClicks {
            level: 1,
            board: "5".repeat(SIZE * SIZE),
            clicks: 3,
            cells: vec![ClickedCell {
                x: 4,
                y: 9,
                clicks: 3,
            }],
        };
        let play = StoppedPlayResult {
            play: "p".to_owned(),
            level: 2,
            outcome: AttemptOutcome::Left,
            actions: 90,
            replay_from: 30,
        };
        let film = walking_square(2);
        author_page(&AuthorReport {
            study,
            environment: &environment,
            clicks: &[clicks],
            replays: &[StoppedReplay { play, film }],
        })
    }

    #[test]
    fn page_shows_where_people_stopped_and_names_nobody() {
        let page = page("A study");
        for expected in [
            "Returned: the study has enough people",
            "level 2: 25 % (12 to 100 %)",
            "3 clicks on level 1",
            "Play 1: stopped on level 2",
            "left by choice",
            "<rhae-player>",
        ] {
            assert!(page.contains(expected), "{expected}");
        }
        for forbidden in ["http://", "https://", "src=\"h", "@import", "url("] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn title_of_the_study_is_escaped() {
        let page = page("</script><img src=x onerror=alert(1)>");
        assert!(!page.contains("<img src=x"));
        assert!(page.contains("&#60;img src=x"));
    }

    #[test]
    fn board_is_parsed_cell_by_cell() {
        let mut board = vec!['0'; SIZE * SIZE];
        board[3 * SIZE + 5] = 'e';
        let frame = frame(&board.iter().collect::<String>());
        assert_eq!(frame.cells()[3 * SIZE + 5], 14);
        assert_eq!(
            frame.cells().iter().filter(|&&cell| cell == 0).count(),
            SIZE * SIZE - 1
        );
    }
}
