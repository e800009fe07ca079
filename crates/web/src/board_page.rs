//! The pages of leaderboards: all boards, the rows of one, and the evidence for a row.
//!
//! Every page shows a document of the REST API. Texts and links of submissions are untrusted: the
//! templates escape them, and only `https` and `http` addresses become links.

use askama::Template;
use rhae_protocol::{
    BoardListing, BoardPage, BoardRow, BoardView, EntryView, Exposure, RowScore, VerificationState,
};

use crate::page::{NavItem, Page, Viewer, render};

/// The rows of a page.
pub const ROWS_PER_PAGE: usize = 100;

#[derive(Template)]
#[template(path = "boards.html")]
struct Boards<'a> {
    page: Page<'a>,
    boards: &'a [BoardListing],
}

/// Renders the list of boards.
pub fn boards_page(viewer: Viewer, boards: &[BoardListing]) -> String {
    render(&Boards {
        page: page("Leaderboards", viewer),
        boards,
    })
}

fn page(title: &str, viewer: Viewer) -> Page<'_> {
    Page {
        title,
        nav: NavItem::Other,
        viewer,
        script: None,
        preload: None,
    }
}

#[derive(Template)]
#[template(path = "board.html")]
struct Board<'a> {
    page: Page<'a>,
    view: &'a BoardView,
    offset: usize,
    row_count: usize,
    page_number: usize,
    page_count: usize,
}

/// Renders a board with the rows of a page.
pub fn board_page(viewer: Viewer, board: &BoardPage) -> String {
    render(&Board {
        page: page(&board.view.title, viewer),
        view: &board.view,
        offset: board.offset,
        row_count: board.row_count,
        page_number: board.offset / ROWS_PER_PAGE + 1,
        page_count: board.row_count.div_ceil(ROWS_PER_PAGE).max(1),
    })
}

impl Board<'_> {
    /// Whether the plot has something to show. Ranked rows come first.
    fn has_ranks(&self) -> bool {
        self.offset > 0 || self.view.rows.iter().any(|row| row.rank.is_some())
    }
}

#[derive(Template)]
#[template(path = "board_entry.html")]
struct Entry<'a> {
    page: Page<'a>,
    view: &'a EntryView,
    row: &'a BoardRow,
    /// Whether the board has static tasks instead of environments.
    has_tasks: bool,
}

/// Renders a row with the evidence for it.
pub fn board_entry_page(viewer: Viewer, view: &EntryView) -> String {
    render(&Entry {
        page: page(&view.row.name, viewer),
        view,
        row: &view.row,
        has_tasks: view.has_tasks,
    })
}

/// The facts of a replayed play that its page shows.
#[derive(Clone, Debug)]
pub struct BoardReplayView {
    pub board: String,
    pub entry: String,
    /// The name and the version of the system.
    pub system: String,
    pub environment: String,
    pub seed: u64,
    pub levels_completed: usize,
    pub win_levels: usize,
    pub actions: u32,
    pub frames_per_second: u8,
    /// The path of the page, below which its data is.
    pub base: String,
}

#[derive(Template)]
#[template(path = "board_replay.html")]
struct Replay<'a> {
    page: Page<'a>,
    view: &'a BoardReplayView,
}

/// Renders the replay of a play of a row.
pub fn board_replay_page(viewer: Viewer, view: &BoardReplayView) -> String {
    let film = format!("{}/film", view.base);
    let mut page = page(&view.system, viewer);
    (page.script, page.preload) = (Some("replay.js"), Some(film.as_str()));
    render(&Replay { page, view })
}

fn range(row: &BoardRow) -> String {
    let range = row.rank.and_then(|rank| rank.best.zip(rank.worst));
    range.map_or_else(|| "–".to_owned(), |(best, worst)| format!("{best}–{worst}"))
}

/// Returns the completed levels, or how many of the environments or tasks a partial row covers.
fn levels(items: &str, score: &RowScore) -> String {
    if score.played < score.environments {
        format!("{} of {} {items}", score.played, score.environments)
    } else {
        format!("{:.1} / {}", score.levels_completed, score.levels)
    }
}

fn cost(row: &BoardRow) -> String {
    row.cost
        .usd
        .map_or_else(|| "unknown".to_owned(), |usd| format!("{usd:.2}"))
}

const fn exposure(row: &BoardRow) -> &'static str {
    match row.exposure {
        Exposure::None => "no, the authors say",
        Exposure::Seen => "yes",
        Exposure::Unknown => "unknown",
    }
}

/// Whether an address may become a link. Others, such as `javascript:`, would be executed.
fn is_web(address: &str) -> bool {
    address.starts_with("https://") || address.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use rhae_testkit::page_outline as outline;

    use super::*;

    fn row() -> serde_json::Value {
        serde_json::json!({
            "entry": "a", "rank": {"rank": 1, "best": 1, "worst": 2, "chance_of_first": 1.0},
            "name": "<b>", "version": "1",
            "authors": [{"name": "Ada", "link": "javascript:alert(1)"}], "models": ["none"],
            "code_url": "https://example.org/code", "state": "replayed", "proves": "p",
            "does_not_prove": "d",
            "score": {"mean": 12.5, "interval": [2.0, 24.0], "levels_completed": 3.0,
                "levels": 48, "played": 6, "environments": 6, "repeats": 1},
            "cost": {"basis": "priced", "usd": 1.5, "on_frontier": true},
            "flags": [{"flag": "exposed", "evidence": "\"e\""}], "exposure": "unknown",
            "registered": true, "date": "2026-11-18",
            "contest": {"by": "Bo", "text": "<i>No.</i>"},
            "environments": [{"id": "kq19-v1", "scores": [12.5], "levels_completed": 3.0, "levels": 8}]
        })
    }

    fn board(rows: &serde_json::Value) -> BoardPage {
        let json = serde_json::json!({
            "offset": 100, "row_count": 250, "board": "main", "title": "A board",
            "kind": "community", "set": "six", "set_sha256": "00", "visibility": "public",
            "environments": 6, "method": "docs-2026-04", "budget": "5x",
            "provisional_baselines": true, "closed": false, "records": 3, "head": "11",
            "rows": rows,
            "registrations": [{"registration": "r1", "name": "<b>", "version": "1",
                "date": "2026-11-17", "repeats": 2, "seeds": [0, 1], "plays": 6, "announced": 12,
                "abandoned": false, "entry": "a"}],
            "releases": [{"release": "main-2026.11.1", "date": "2026-11-18", "seq": 2, "rows": "22"}],
            "references": [{"system": "Model", "provider": "Lab", "benchmark": "arc-agi-3",
                "set": "semi-private", "score": 0.37, "source": "the paper, table 2"}]
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn outline_of_a_board() {
        let claim = serde_json::json!({
            "entry": "b", "name": "b", "version": "2", "authors": [], "models": [],
            "code_url": "x", "state": "claimed", "proves": "p", "does_not_prove": "d",
            "cost": {"basis": "unknown", "on_frontier": false}, "flags": [],
            "exposure": "none", "registered": false, "date": "2026-11-18"
        });
        let page = board_page(
            Viewer::Anonymous,
            &board(&serde_json::json!([row(), claim])),
        );
        assert!(
            !page.contains("<b>") && page.contains("Page 2 of 3"),
            "{page}"
        );
        insta::assert_snapshot!(outline(&page));
    }

    #[test]
    fn outline_of_a_row() {
        let json = serde_json::json!({
            "board": "main", "title": "A board", "visibility": "public", "description": "<p>",
            "paper_url": "ftp://example.org", "row": row(),
            "history": [{"seq": 2, "date": "2026-11-18", "actor": "Ada", "kind": "submitted"}],
            "runs": [{"run_id": "r", "digest": "33", "agent": "random", "software": "rhae 1",
                "date": "2026-11-18", "cost_basis": "measured", "plays": [
                    {"environment": "kq19-v1", "seed": 0, "actions": 9, "levels_completed": 3,
                     "recording": "44"}]}]
        });
        let view: EntryView = serde_json::from_value(json).unwrap();
        let page = board_entry_page(Viewer::OpenAccess, &view);
        assert!(
            !page.contains("href=\"javascript") && !page.contains("href=\"ftp"),
            "{page}"
        );
        assert!(!page.contains("<i>No") && page.contains("href=\"https://example.org/code\""));
        insta::assert_snapshot!(outline(&page));
    }
}
