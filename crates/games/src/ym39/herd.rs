//! The creatures and what a call does to them: who looks at whom, who walks how far, who wakes.
//!
//! Invariant: no two creatures share a cell, and none stands in a rock. This module knows nothing of pictures, clicks or
//! the end of a level.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// Cells along each side of the square land.
pub(super) const SIDE: u8 = 9;
/// The most creatures in one level.
pub(super) const MOST: usize = 8;

/// A set of cells, one bit each, row by row from the top left.
pub(super) type Cells = u128;

/// What a creature is; it stays so for the whole level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Comes when called, and has no nest.
    Plain,
    /// Comes when called, and has a nest.
    First,
    /// Comes when called, and has a nest of another colour.
    Second,
    /// Backs away when it should come, and has a nest.
    Shy,
    /// Comes when called, has no nest, and turns a quarter each time it is called itself.
    Restless,
}

/// Where a creature looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum Gaze {
    Up,
    Right,
    Down,
    Left,
    /// Nowhere: the creature sleeps until another arrives next to it.
    Asleep,
}

impl Gaze {
    /// All of them, in the order of their numbers.
    pub(super) const ALL: [Self; 5] = [Self::Up, Self::Right, Self::Down, Self::Left, Self::Asleep];

    /// The four directions, in the order in which a woken sleeper prefers them.
    pub(super) const DIRECTIONS: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];

    /// A quarter turn to the right.
    const fn turned(self) -> Self {
        match self {
            Self::Up => Self::Right,
            Self::Right => Self::Down,
            Self::Down => Self::Left,
            Self::Left => Self::Up,
            Self::Asleep => Self::Asleep,
        }
    }

    const fn opposite(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Right => Self::Left,
            Self::Down => Self::Up,
            Self::Left => Self::Right,
            Self::Asleep => Self::Asleep,
        }
    }

    /// How the number of a cell changes with one step; only a direction leads anywhere.
    const fn stride(self) -> u8 {
        match self {
            Self::Up => SIDE.wrapping_neg(),
            Self::Right => 1,
            Self::Down => SIDE,
            Self::Left => 1_u8.wrapping_neg(),
            Self::Asleep => 0,
        }
    }
}

/// One creature's place and gaze.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Creature {
    pub(super) cell: u8,
    pub(super) gaze: Gaze,
}

/// As one small number: a derived hash takes eight bytes for a gaze.
impl Hash for Creature {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u16(u16::from_le_bytes([self.cell, self.gaze as u8]));
    }
}

/// All creatures, in the order of the level's kinds. Places beyond the level's number of creatures are never read.
pub(crate) type Herd = [Creature; MOST];

/// What never changes in a level: the land, and what its creatures are.
#[derive(Clone, Debug)]
pub(super) struct Land {
    /// Cells that stop walking and sight.
    pub(super) rocks: Cells,
    /// Cells that stop walking, but not sight.
    pub(super) water: Cells,
    pub(super) kinds: [Kind; MOST],
    /// How many of the kinds there are.
    pub(super) count: usize,
}

/// How one creature answers a call: it goes some cells along a line, maybe none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    who: u8,
    pub(super) heading: Gaze,
    pub(super) steps: u8,
    /// Whether it looks where the called one looks once it has arrived.
    comes: bool,
}

/// The answers to one call, at most one from each side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    walks: [Option<Walk>; 4],
}

impl Walk {
    #[inline]
    pub(super) fn who(&self) -> usize {
        usize::from(self.who)
    }
}

impl Answer {
    pub(super) fn walks(&self) -> impl Iterator<Item = &Walk> {
        self.walks.iter().flatten()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.walks[0].is_none()
    }

    /// How many steps the last one to arrive walks.
    pub(super) fn longest(&self) -> u8 {
        self.walks().map(|walk| walk.steps).max().unwrap_or(0)
    }
}

/// The creature that stands in a cell.
#[inline]
pub(super) fn who_is_at(land: &Land, herd: &Herd, cell: u8) -> Option<usize> {
    herd[..land.count].iter().position(|creature| creature.cell == cell)
}

/// The cells between a creature and the first thing on its line of sight.
pub(super) fn line_of_sight(land: &Land, herd: &Herd, who: usize) -> Cells {
    let Creature { cell, gaze } = herd[who];
    if gaze == Gaze::Asleep {
        return 0;
    }
    run(cell, gaze, obstacles(land, herd))
}

/// Who comes or backs away when a creature is called. Nothing has moved yet.
pub(super) fn answer(land: &Land, herd: &Herd, called: usize) -> Answer {
    let mut answer = Answer::default();
    let target = herd[called].cell;
    let toward = &TOWARD[usize::from(target)];
    // A bit for each who looks that way; few do, and who does cannot be guessed.
    let mut looking = 0_u32;
    for (who, creature) in herd[..land.count].iter().enumerate() {
        looking |= u32::from(toward[usize::from(creature.cell % 128)] == creature.gaze as u8) << who;
    }
    if looking == 0 {
        return answer;
    }
    let opaque = obstacles(land, herd);
    let mut number = 0;
    while looking != 0 {
        let who = looking.trailing_zeros() as usize;
        looking &= looking - 1;
        let Creature { cell, gaze } = herd[who];
        if ray(cell, gaze) & ray(target, gaze.opposite()) & opaque != 0 {
            continue;
        }
        let comes = land.kinds[who] != Kind::Shy;
        let heading = if comes { gaze } else { gaze.opposite() };
        let steps = if comes && land.water == 0 { between(cell, target) } else { free(cell, heading, opaque | land.water) };
        answer.walks[number] = Some(Walk { who: who as u8, heading, steps, comes });
        number += 1;
    }
    answer
}

/// Moves those who answer by at most `steps` cells.
pub(super) fn walk(herd: &mut Herd, answer: &Answer, steps: u8) {
    for walk in answer.walks() {
        let creature = &mut herd[walk.who()];
        creature.cell = creature.cell.wrapping_add(walk.heading.stride().wrapping_mul(steps.min(walk.steps)));
    }
}

/// Those who came look where the called one looks; from a sleeper there is nothing to take over.
pub(super) fn look_along(herd: &mut Herd, answer: &Answer, called: usize) {
    let gaze = herd[called].gaze;
    if gaze != Gaze::Asleep {
        for walk in answer.walks().filter(|walk| walk.comes) {
            herd[walk.who()].gaze = gaze;
        }
    }
}

/// Whether a creature turns once it was called, no matter whether anybody came.
pub(super) fn turns_when_called(land: &Land, herd: &Herd, called: usize) -> bool {
    land.kinds[called] == Kind::Restless && herd[called].gaze != Gaze::Asleep
}

/// Turns a creature by a quarter.
pub(super) fn turn(herd: &mut Herd, who: usize) {
    herd[who].gaze = herd[who].gaze.turned();
}

/// Sleepers next to whom a creature has just arrived wake and look at it. Tells whether any did.
pub(super) fn wake(land: &Land, herd: &mut Herd, answer: &Answer) -> bool {
    let arrived = answer.walks().filter(|walk| walk.steps > 0).fold(0, |cells, walk| cells | bit(herd[walk.who()].cell));
    let mut any = false;
    if arrived == 0 {
        return any;
    }
    for creature in herd[..land.count].iter_mut().filter(|creature| creature.gaze == Gaze::Asleep) {
        let seen = Gaze::DIRECTIONS.into_iter().find(|&side| ray(creature.cell, side) & bit(creature.cell.wrapping_add(side.stride())) & arrived != 0);
        if let Some(side) = seen {
            creature.gaze = side;
            any = true;
        }
    }
    any
}

fn obstacles(land: &Land, herd: &Herd) -> Cells {
    herd[..land.count].iter().fold(land.rocks, |cells, creature| cells | CELLS[usize::from(creature.cell)])
}

/// The cells from one cell in a direction up to the first obstacle or the rim.
fn run(from: u8, direction: Gaze, obstacles: Cells) -> Cells {
    let line = ray(from, direction);
    match nearest(line & obstacles, direction) {
        Some(obstacle) => line & ray(obstacle, direction.opposite()),
        None => line,
    }
}

/// How many cells that are.
fn free(from: u8, direction: Gaze, obstacles: Cells) -> u8 {
    match nearest(ray(from, direction) & obstacles, direction) {
        Some(obstacle) => between(from, obstacle),
        None => reach(from)[direction as usize],
    }
}

/// The first of some cells on a line.
fn nearest(cells: Cells, direction: Gaze) -> Option<u8> {
    let forwards = matches!(direction, Gaze::Right | Gaze::Down);
    let nearest = if forwards { cells.trailing_zeros() } else { (Cells::BITS - 1).wrapping_sub(cells.leading_zeros()) };
    (cells != 0).then_some(nearest as u8)
}

/// How many cells are between two on a line.
const fn between(one: u8, other: u8) -> u8 {
    let distance = one.abs_diff(other);
    (if distance < SIDE { distance } else { distance / SIDE }) - 1
}

/// How many cells there are from a cell to the rim, in the order of the directions.
const fn reach(cell: u8) -> [u8; 4] {
    let (column, row) = (cell % SIDE, cell / SIDE);
    [row, SIDE - 1 - column, SIDE - 1 - row, column]
}

pub(super) const fn bit(cell: u8) -> Cells {
    1_u128.wrapping_shl(cell as u32)
}

pub(super) const fn contains(cells: Cells, cell: u8) -> bool {
    cells & bit(cell) != 0
}

/// All cells in a direction from a cell, up to the rim.
const fn ray(cell: u8, direction: Gaze) -> Cells {
    RAYS[cell as usize][direction as usize]
}

/// For each cell and each other: the gaze from the other one that meets it, as its number, or one that no gaze has. As many
/// others as a power of two, so that none has to be checked.
static TOWARD: [[u8; 128]; SIDE as usize * SIDE as usize] = {
    let mut toward = [[u8::MAX; 128]; SIDE as usize * SIDE as usize];
    let mut cell = 0;
    while cell < SIDE * SIDE {
        let mut direction = 0;
        while direction < 4 {
            let mut line = RAYS[cell as usize][direction];
            while line != 0 {
                toward[line.trailing_zeros() as usize][cell as usize] = direction as u8;
                line &= line - 1;
            }
            direction += 1;
        }
        cell += 1;
    }
    toward
};

/// Each cell as a set: what is read is quicker than a long shift.
static CELLS: [Cells; SIDE as usize * SIDE as usize] = {
    let mut cells = [0; SIDE as usize * SIDE as usize];
    let mut cell = 0;
    while cell < SIDE * SIDE {
        cells[cell as usize] = bit(cell);
        cell += 1;
    }
    cells
};

static RAYS: [[Cells; 4]; SIDE as usize * SIDE as usize] = {
    let mut rays = [[0; 4]; SIDE as usize * SIDE as usize];
    let mut cell = 0;
    while cell < SIDE * SIDE {
        let reach = reach(cell);
        let mut direction = 0;
        while direction < 4 {
            let stride = Gaze::DIRECTIONS[direction].stride();
            let mut step = 1;
            while step <= reach[direction] {
                rays[cell as usize][direction] |= bit(cell.wrapping_add(stride.wrapping_mul(step)));
                step += 1;
            }
            direction += 1;
        }
        cell += 1;
    }
    rays
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a creature in a row of cells written as in the level maps, and gives the row afterwards.
    fn after_call(row: &str, called: usize) -> String {
        let (mut rocks, mut water) = (0, 0);
        let mut kinds = [Kind::Plain; MOST];
        let mut herd = [Creature { cell: 0, gaze: Gaze::Up }; MOST];
        let mut count = 0;
        for (cell, word) in (0..).zip(row.split(' ')) {
            match word.as_bytes() {
                b".." => {}
                b"##" => rocks |= bit(cell),
                b"~~" => water |= bit(cell),
                &[letter, sign] => {
                    kinds[count] = if letter == b's' { Kind::Shy } else if letter == b'r' { Kind::Restless } else { Kind::Plain };
                    let gaze = b"^>v<z".iter().position(|&known| known == sign).unwrap();
                    herd[count] = Creature { cell, gaze: [Gaze::Up, Gaze::Right, Gaze::Down, Gaze::Left, Gaze::Asleep][gaze] };
                    count += 1;
                }
                _ => panic!("{word}"),
            }
        }
        let land = Land { rocks, water, kinds, count };
        let answer = answer(&land, &herd, called);
        walk(&mut herd, &answer, answer.longest());
        look_along(&mut herd, &answer, called);
        if turns_when_called(&land, &herd, called) {
            turn(&mut herd, called);
        }
        wake(&land, &mut herd, &answer);
        let shown = |cell: u8| match who_is_at(&land, &herd, cell) {
            Some(who) => format!("{}{}", ["p", "a", "b", "s", "r"][kinds[who] as usize], ["^", ">", "v", "<", "z"][herd[who].gaze as usize]),
            None => if contains(rocks, cell) { "##" } else if contains(water, cell) { "~~" } else { ".." }.to_owned(),
        };
        (0..SIDE).map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn whoever_sees_the_called_one_comes_and_looks_along() {
        assert_eq!(after_call("p> .. .. pv .. .. p< .. p<", 1), ".. .. pv pv pv .. .. .. p<");
        assert_eq!(after_call("p> .. ## pv .. .. p> .. ..", 1), "p> .. ## pv .. .. p> .. ..", "rocks and looking away");
        assert_eq!(after_call(".. .. pv p< .. .. .. .. ..", 0), ".. .. pv pv .. .. .. .. ..", "a turn on the spot");
    }

    #[test]
    fn water_stops_feet_but_not_eyes() {
        assert_eq!(after_call("p> .. .. ~~ .. p^ .. .. ..", 1), ".. .. p^ ~~ .. p^ .. .. ..");
    }

    #[test]
    fn the_shy_back_away_and_keep_looking() {
        assert_eq!(after_call(".. .. .. .. s> .. .. p^ ..", 1), "s> .. .. .. .. .. .. p^ ..");
        assert_eq!(after_call(".. ~~ .. .. s> .. .. p^ ..", 1), ".. ~~ s> .. .. .. .. p^ ..");
    }

    #[test]
    fn a_sleeper_wakes_to_whom_it_is_reached_by() {
        assert_eq!(after_call("p> .. .. .. pz .. .. .. ..", 1), ".. .. .. p> p< .. .. .. ..");
        assert_eq!(after_call("s< p^ .. s< .. .. .. .. pz", 1), "s< p^ .. .. .. .. .. s< p<");
    }

    #[test]
    fn the_restless_turn_after_they_are_looked_along() {
        assert_eq!(after_call("p> .. .. .. r^ .. .. .. ..", 1), ".. .. .. p^ r> .. .. .. ..");
        assert_eq!(after_call(".. .. .. .. r< .. .. .. ..", 0), ".. .. .. .. r^ .. .. .. ..");
    }
}
