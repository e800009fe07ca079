//! The accuracy of `percept` on the games of this crate, measured against what their rules know.
//!
//! Every game annotates its frames in `draw/things.rs`: the bounds of the things on the board, the
//! things that an action moved, and the grid. Most status bars need no annotation: the cells that
//! differ between two states with equal boards are the cells that show what is spent. A game
//! annotates only the bars that show a budget of the board.
//!
//! The result is the table in `docs/percept.md`. If a change of `percept` changes the table, review
//! the snapshot and copy the table to the page; a test compares the two.

mod measure;

use rhae_engine::{Action, Game, StateOf};
use rhae_percept::Bounds;

use measure::{Accuracy, header};

/// A game whose frames are annotated with what the rules know.
pub(crate) trait Annotated: Game {
    /// Returns the grid on which a level is drawn, `None` if its cells are not square or very large.
    fn grid(level: &Self::Level) -> Option<CellGrid>;

    /// Returns the areas of status bars that show a budget which undo restores. The rules count such a
    /// budget as a part of the board.
    fn bars(_level: &Self::Level) -> Vec<Bounds> {
        Vec::new()
    }

    /// Returns everything that is visible completely, in the settled frame of a state.
    fn things(level: &Self::Level, state: &StateOf<Self>) -> Vec<Thing>;

    /// Returns the things that an action moved, where the rules know the vector and the thing looks
    /// the same before and after.
    fn movements(
        level: &Self::Level,
        before: &StateOf<Self>,
        action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement>;
}

/// Something that the rules know, with the bounds of its drawing.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "the name is for reading the debug output")]
pub(crate) struct Thing {
    /// What it is, in the words of the game.
    name: &'static str,
    bounds: Bounds,
}

impl Thing {
    pub(crate) const fn new(name: &'static str, bounds: Bounds) -> Self {
        Self { name, bounds }
    }
}

/// A thing that moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Movement {
    /// Its bounds before the action.
    pub(crate) from: Bounds,
    pub(crate) dx: i8,
    pub(crate) dy: i8,
}

impl Movement {
    /// Returns the movement from one upper left pixel to another one, `None` if they are the same.
    pub(crate) fn between(
        from: Bounds,
        (x, y): (usize, usize),
        (new_x, new_y): (usize, usize),
    ) -> Option<Self> {
        ((x, y) != (new_x, new_y)).then(|| Self {
            from,
            dx: (new_x as isize - x as isize) as i8,
            dy: (new_y as isize - y as isize) as i8,
        })
    }
}

/// The distance from one cell to the next, and the first column and row on which a cell begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellGrid {
    pub(crate) cell: u8,
    pub(crate) offset: (u8, u8),
}

/// Returns the bounds of a block of pixels.
pub(crate) const fn block(left: usize, top: usize, width: usize, height: usize) -> Bounds {
    Bounds {
        left: left as u8,
        top: top as u8,
        right: (left + width - 1) as u8,
        bottom: (top + height - 1) as u8,
    }
}

/// Divides cells, given by column and row, into connected groups.
pub(crate) fn groups(
    cells: impl Iterator<Item = (usize, usize)>,
    diagonal: bool,
) -> Vec<Vec<(usize, usize)>> {
    let touch = |a: &(usize, usize), b: &(usize, usize)| {
        let (across, down) = (a.0.abs_diff(b.0), a.1.abs_diff(b.1));
        across + down == 1 || diagonal && across == 1 && down == 1
    };
    let mut groups: Vec<Vec<(usize, usize)>> = Vec::new();
    for cell in cells {
        let is_near = |group: &Vec<_>| group.iter().any(|other| touch(&cell, other));
        let (near, mut rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_near);
        let mut joined = near.concat();
        joined.push(cell);
        rest.push(joined);
        groups = rest;
    }
    groups
}

#[test]
fn accuracy_equals_the_table_of_the_documentation() {
    let mut table = header();
    table += &Accuracy::of::<crate::kq19::Kq19>().row("kq19");
    table += &Accuracy::of::<crate::ny40::Ny40>().row("ny40");
    table += &Accuracy::of::<crate::ym39::Ym39>().row("ym39");
    table += &Accuracy::of::<crate::bx20::Bx20>().row("bx20");
    table += &Accuracy::of::<crate::hk26::Hk26>().row("hk26");
    table += &Accuracy::of::<crate::pz19::Pz19>().row("pz19");
    table += &Accuracy::of::<crate::mf73::Mf73>().row("mf73");
    table += &Accuracy::of::<crate::xe92::Xe92>().row("xe92");
    table += &Accuracy::of::<crate::gr45::Gr45>().row("gr45");
    table += &Accuracy::of::<crate::xd08::Xd08>().row("xd08");
    table += &Accuracy::of::<crate::zg58::Zg58>().row("zg58");
    table += &Accuracy::of::<crate::iv71::Iv71>().row("iv71");
    table += &Accuracy::of::<crate::ur63::Ur63>().row("ur63");
    table += &Accuracy::of::<crate::fm36::Fm36>().row("fm36");
    table += &Accuracy::of::<crate::zc67::Zc67>().row("zc67");
    insta::assert_snapshot!(table);
    let page = include_str!("../../../docs/percept.md");
    assert!(
        page.contains(&table),
        "copy this table to docs/percept.md:\n{table}"
    );
}
