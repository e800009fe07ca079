//! The creatures and what a call does to them: who looks at whom, who walks how far, who wakes.
//!
//! Invariant: no two creatures share a cell, and none stands in a rock. This module knows nothing of pictures, clicks or
//! the end of a level.

use rhae_engine::{Packer, Unpacker};
use serde::{Deserialize, Serialize};

/// Cells along each side of the square land.
pub(super) const SIDE: u8 = 9;
/// The most creatures in one level.
pub(super) const MOST: usize = 8;

/// A place of the land: its row in the upper four bits, its column in the lower ones. So a step to any side is a number to add.
pub(super) type Cell = u8;
/// Something for every cell.
pub(super) type Cells<T> = [T; 256];

/// The cell in a column and a row.
#[inline]
pub(super) const fn cell(column: u8, row: u8) -> Cell {
    row << 4 | column
}

/// All cells of the land, row by row from the top left.
pub(super) fn all_cells() -> impl Iterator<Item = Cell> {
    (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| cell(column, row)))
}

/// Whether a cell is one of the land.
pub(super) const fn is_land(cell: Cell) -> bool {
    cell & 15 < SIDE && cell >> 4 < SIDE
}

/// How many steps there are from one cell to another on the same line.
#[inline]
const fn distance(one: Cell, other: Cell) -> u8 {
    let difference = one.abs_diff(other);
    // One of the two is zero.
    (difference & 15) + (difference >> 4)
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Gaze {
    Up,
    Right,
    Down,
    Left,
    /// Nowhere: the creature sleeps until another arrives next to it.
    Asleep,
}

impl Gaze {
    /// The four directions, in the order in which a woken sleeper prefers them.
    pub(super) const DIRECTIONS: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];

    /// A quarter turn to the right. It is read from a list, as others are here: a processor cannot guess which of several ways to go.
    #[inline]
    const fn turned(self) -> Self {
        const TURNED: [Gaze; 5] = [Gaze::Right, Gaze::Down, Gaze::Left, Gaze::Up, Gaze::Asleep];
        TURNED[self as usize]
    }

    /// The cell some steps away; only a direction leads anywhere.
    #[inline]
    pub(super) const fn from(self, cell: Cell, steps: u8) -> Cell {
        cell.wrapping_add((STRIDES[self.byte() as usize % 8] as u8).wrapping_mul(steps))
    }

    /// As a creature's byte in a herd: a bit for up and down, one for left and right, one for up and left, which lead to
    /// lower cells, and one for nowhere.
    #[inline]
    const fn byte(self) -> u8 {
        const BYTES: [u8; 5] = [
            VERTICAL | BACK,
            HORIZONTAL,
            VERTICAL,
            HORIZONTAL | BACK,
            ASLEEP,
        ];
        BYTES[self as usize]
    }

    #[inline]
    const fn of_byte(byte: u8) -> Self {
        const GAZES: [Gaze; 8] = [
            Gaze::Asleep,
            Gaze::Down,
            Gaze::Right,
            Gaze::Asleep,
            Gaze::Asleep,
            Gaze::Up,
            Gaze::Left,
            Gaze::Asleep,
        ];
        GAZES[(byte % ASLEEP) as usize]
    }
}

/// The bits of a gaze: see [`Gaze::byte`].
const VERTICAL: u8 = 1;
const HORIZONTAL: u8 = 2;
const BACK: u8 = 4;
const ASLEEP: u8 = 8;

/// What a step adds to a cell, by the lower bits of a gaze.
const STRIDES: [i8; 8] = [0, 16, 1, 0, 0, -16, -1, 0];

/// One creature's place and gaze.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Creature {
    pub(super) cell: Cell,
    pub(super) gaze: Gaze,
}

/// All creatures, in the order of the level's kinds: a byte of each number is one creature's, the lowest that of the first. So all
/// of them are looked at together, and the two numbers are a packed state as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Herd {
    cells: u64,
    gazes: u64,
}

/// Some creatures of a herd: the highest bits of their bytes.
pub(super) type Those = u64;

/// The cell of those who are not there, in no row and no column of the land.
const NOWHERE: Cell = 255;
/// In each byte: the lowest bit, the lower four, the highest.
const EACH: u64 = 0x0101_0101_0101_0101;
const LOWER: u64 = 0x0F0F_0F0F_0F0F_0F0F;
const TOPS: u64 = 0x8080_8080_8080_8080;

impl Herd {
    /// Nobody.
    pub(super) const EMPTY: Self = Self {
        cells: EACH * NOWHERE as u64,
        gazes: 0,
    };

    #[inline]
    pub(super) const fn get(&self, who: usize) -> Creature {
        Creature {
            cell: byte(self.cells, who),
            gaze: Gaze::of_byte(byte(self.gazes, who)),
        }
    }

    #[inline]
    pub(super) const fn set(&mut self, who: usize, creature: Creature) {
        self.cells = with_byte(self.cells, who, creature.cell);
        self.gazes = with_byte(self.gazes, who, creature.gaze.byte());
    }

    /// The first creatures, as many as asked for.
    #[inline]
    pub(super) fn first(&self, count: usize) -> impl Iterator<Item = Creature> {
        (0..count).map(|who| self.get(who))
    }

    /// Those who stand in a cell: one at most.
    #[inline]
    pub(super) const fn those_at(&self, cell: Cell) -> Those {
        let others = self.cells ^ (EACH * cell as u64);
        // Adding 127 to the lower seven bits sets the highest of all but zeros.
        !(((others & !TOPS) + !TOPS) | others) & TOPS
    }

    /// Those in the column of a cell, and those in its row; who is in the cell is in both.
    #[inline]
    const fn lines(&self, cell: Cell) -> (Those, Those) {
        let others = self.cells ^ (EACH * cell as u64);
        (
            !((others & LOWER) + !TOPS) & TOPS,
            !((others >> 4 & LOWER) + !TOPS) & TOPS,
        )
    }

    /// Those in a cell and in all that follow it, row by row.
    #[inline]
    const fn from(&self, cell: Cell) -> Those {
        let first = EACH * cell as u64;
        // A byte whose highest bit is set loses it to what is greater than the rest of it; this decides where the highest bits are equal.
        let rest = (self.cells | TOPS) - (first & !TOPS);
        (self.cells & !first | !(self.cells ^ first) & rest) & TOPS
    }

    /// Those whom a creature in a cell would see with a gaze, if nobody and nothing were between.
    #[inline]
    const fn ahead(&self, cell: Cell, gaze: u8) -> Those {
        let ((column, row), from) = (self.lines(cell), self.from(cell));
        let line = if gaze & VERTICAL != 0 {
            column & !row
        } else {
            row & !column
        };
        let side = if gaze & BACK != 0 { !from } else { from };
        line & side
    }

    /// How many steps there are from a cell to the nearest of some on one of its lines; there must be one.
    #[inline]
    const fn steps_to(&self, mut some: Those, cell: Cell) -> u8 {
        let mut least = u8::MAX;
        while some != 0 {
            let steps = distance(byte(self.cells, first_of(some)), cell);
            least = if steps < least { steps } else { least };
            some &= some - 1;
        }
        least
    }

    /// Those whose gaze has a bit.
    #[inline]
    const fn gazing(&self, bit: u8) -> Those {
        self.gazes << bit.leading_zeros() & TOPS
    }

    /// Adds the herd to a number.
    #[inline]
    pub(super) const fn pack(&self, packer: &mut Packer) {
        packer.put(self.gazes, 62);
        packer.put(self.cells, 64);
    }

    #[inline]
    pub(super) const fn unpack(fields: &mut Unpacker) -> Self {
        Self {
            cells: fields.take(64),
            gazes: fields.take(62),
        }
    }
}

#[inline]
const fn first_of(some: Those) -> usize {
    some.trailing_zeros() as usize / 8
}

#[inline]
const fn byte(bytes: u64, number: usize) -> u8 {
    (bytes >> (8 * number)) as u8
}

#[inline]
const fn with_byte(bytes: u64, number: usize, byte: u8) -> u64 {
    bytes & !(0xFF << (8 * number)) | (byte as u64) << (8 * number)
}

/// Something for every direction from every cell, by the lower bits of a gaze.
type Reach = [Cells<u8>; 8];

/// What never changes in a level: the land, and what its creatures are.
#[derive(Clone, Debug)]
pub(super) struct Land {
    /// How many cells there are in a direction from a cell up to the first rock or the rim, and up to the first rock or pool.
    sights: Reach,
    paths: Reach,
    pub(super) kinds: [Kind; MOST],
    /// How many of the kinds there are.
    pub(super) count: usize,
    /// Who is of which kind.
    those: [Those; 5],
}

impl Land {
    /// The land with rocks, which stop walking and sight, and water, which stops walking only.
    pub(super) fn new(
        rocks: &Cells<bool>,
        water: &Cells<bool>,
        kinds: [Kind; MOST],
        count: usize,
    ) -> Self {
        let (mut sights, mut paths) = ([[0; 256]; 8], [[0; 256]; 8]);
        for (cell, direction) in
            all_cells().flat_map(|cell| Gaze::DIRECTIONS.map(|direction| (cell, direction)))
        {
            let line = || (1..).map(|steps| usize::from(direction.from(cell, steps)));
            let free = |stops: &dyn Fn(usize) -> bool| {
                line()
                    .take_while(|&next| is_land(next as u8) && !stops(next))
                    .count() as u8
            };
            sights[usize::from(direction.byte())][usize::from(cell)] = free(&|next| rocks[next]);
            paths[usize::from(direction.byte())][usize::from(cell)] =
                free(&|next| rocks[next] || water[next]);
        }
        let mut those = [0; 5];
        (0..count).for_each(|who| those[kinds[who] as usize] |= 0x80 << (8 * who));
        Self {
            sights,
            paths,
            kinds,
            count,
            those,
        }
    }

    /// All creatures of a kind.
    #[inline]
    pub(super) const fn those_of(&self, kind: Kind) -> Those {
        self.those[kind as usize]
    }
}

/// How one creature answers a call: it goes some cells along a line, maybe none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    who: u8,
    heading: Gaze,
    steps: u8,
}

/// The answers to one call, at most one from each side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// How many answer, and how they walk if that will be shown.
    count: usize,
    walks: [Walk; 4],
    /// Those who are elsewhere afterwards, and where everybody is. Who came looks where the called one looks; from a
    /// sleeper there is nothing to take over.
    moved: Those,
    pub(super) arrived: Herd,
}

impl Walk {
    #[inline]
    pub(super) const fn who(&self) -> usize {
        self.who as usize
    }
}

impl Answer {
    /// Nobody answers.
    #[inline]
    const fn none(herd: &Herd) -> Self {
        Self {
            walks: [Walk {
                who: 0,
                heading: Gaze::Up,
                steps: 0,
            }; 4],
            count: 0,
            moved: 0,
            arrived: *herd,
        }
    }

    #[inline]
    pub(super) fn walks(&self) -> &[Walk] {
        &self.walks[..self.count]
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many steps the last one to arrive walks.
    pub(super) fn longest(&self) -> u8 {
        self.walks()
            .iter()
            .map(|walk| walk.steps)
            .max()
            .unwrap_or(0)
    }
}

/// The cells between a creature and the first thing on its line of sight.
pub(super) fn line_of_sight(land: &Land, herd: &Herd, who: usize) -> impl Iterator<Item = Cell> {
    let Creature { cell, gaze } = herd.get(who);
    let count = if gaze == Gaze::Asleep {
        0
    } else {
        free(&land.sights, herd, cell, gaze.byte())
    };
    (1..=count).map(move |steps| gaze.from(cell, steps))
}

/// How many cells are free in a direction from a cell, up to what stops everybody or to the next creature.
#[inline]
fn free(reach: &Reach, herd: &Herd, cell: Cell, gaze: u8) -> u8 {
    let reach = reach[gaze as usize % 8][usize::from(cell)];
    match herd.ahead(cell, gaze) {
        0 => reach,
        ahead => reach.min(herd.steps_to(ahead, cell) - 1),
    }
}

/// The creature in a cell is called: who is on the lines through it. Nothing has moved yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) cell: Cell,
    /// Who is called, if anybody is there.
    pub(super) called: Those,
    column: Those,
    row: Those,
    /// Those in the cell and in all that follow it.
    from: Those,
    /// Those who look along a line to the cell. Something may be between.
    turned: Those,
    /// The called one, if it turns, no matter whether anybody comes.
    pub(super) turning: Those,
}

impl Call {
    #[inline]
    pub(super) const fn new(land: &Land, herd: &Herd, cell: Cell) -> Self {
        let ((column, row), from) = (herd.lines(cell), herd.from(cell));
        let called = column & row;
        let turned = (column & herd.gazing(VERTICAL) | row & herd.gazing(HORIZONTAL))
            & !(herd.gazing(BACK) ^ from);
        let turning = called & land.those_of(Kind::Restless) & !herd.gazing(ASLEEP);
        Self {
            cell,
            called,
            column,
            row,
            from,
            turned: turned & !called,
            turning,
        }
    }

    /// Whether it is plain that nothing comes of it.
    #[inline]
    pub(super) const fn is_idle(&self) -> bool {
        self.called == 0 || self.turned | self.turning == 0
    }
}

/// Who comes or backs away when a creature is called. How they walk is noted only if it will be shown.
#[inline]
pub(super) fn answer(land: &Land, herd: &Herd, call: &Call, shown: bool) -> Answer {
    let mut answer = Answer::none(herd);
    let looks = byte(herd.gazes, first_of(call.called));
    let mut turned = call.turned;
    while turned != 0 {
        let (who, this) = (first_of(turned), turned & turned.wrapping_neg());
        turned &= turned - 1;
        let (cell, gaze) = (byte(herd.cells, who), byte(herd.gazes, who));
        // Between the two is who comes after one of them and before the other.
        let line = if call.column & this != 0 {
            call.column
        } else {
            call.row
        };
        let between = line & (call.from ^ herd.from(cell)) & !(call.called | this);
        let free = distance(cell, call.cell) - 1;
        let reach = |reach: &Reach| reach[gaze as usize % 8][usize::from(cell)];
        if (between != 0) | (free > reach(&land.sights)) {
            continue;
        }
        let comes = land.those_of(Kind::Shy) & this == 0;
        let (heading, steps) = if comes {
            (gaze, reach(&land.paths).min(free))
        } else {
            (
                gaze ^ BACK,
                self::free(&land.paths, herd, cell, gaze ^ BACK),
            )
        };
        if shown {
            answer.walks[answer.count % 4] = Walk {
                who: who as u8,
                heading: Gaze::of_byte(heading),
                steps,
            };
        }
        answer.count += 1;
        answer.moved |= if steps > 0 { this } else { 0 };
        // A creature stays on the land, so its byte takes nothing from its neighbours.
        let way = i64::from(STRIDES[heading as usize % 8]) * i64::from(steps);
        answer.arrived.cells = answer.arrived.cells.wrapping_add_signed(way << (8 * who));
        if comes && looks != ASLEEP {
            answer.arrived.gazes ^= u64::from(gaze ^ looks) << (8 * who);
        }
    }
    answer
}

/// Where everybody is when those who answer have walked at most `steps` cells.
pub(super) fn walked(herd: &Herd, answer: &Answer, steps: u8) -> Herd {
    let mut walked = *herd;
    for walk in answer.walks() {
        let cell = walk
            .heading
            .from(byte(herd.cells, walk.who()), steps.min(walk.steps));
        walked.cells = with_byte(walked.cells, walk.who(), cell);
    }
    walked
}

/// Turns a creature by a quarter.
#[inline]
pub(super) const fn turn(herd: &mut Herd, this: Those) {
    let who = first_of(this);
    let Creature { cell, gaze } = herd.get(who);
    herd.set(
        who,
        Creature {
            cell,
            gaze: gaze.turned(),
        },
    );
}

/// Sleepers next to whom a creature has just arrived wake and look at it. Tells whether any did.
#[inline]
pub(super) fn wake(herd: &mut Herd, answer: &Answer) -> bool {
    let mut any = false;
    let mut asleep = herd.gazing(ASLEEP);
    while asleep != 0 {
        let who = first_of(asleep);
        asleep &= asleep - 1;
        let cell = byte(herd.cells, who);
        let is_reached_from = |side: Gaze| herd.those_at(side.from(cell, 1)) & answer.moved != 0;
        if let Some(gaze) = Gaze::DIRECTIONS
            .into_iter()
            .find(|&side| is_reached_from(side))
        {
            herd.set(who, Creature { cell, gaze });
            any = true;
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAZES: [Gaze; 5] = [Gaze::Up, Gaze::Right, Gaze::Down, Gaze::Left, Gaze::Asleep];

    fn who_is_at(herd: &Herd, cell: Cell) -> Option<usize> {
        let there = herd.those_at(cell);
        (there != 0).then(|| first_of(there))
    }

    /// Calls a creature in a row of cells written as in the level maps, and gives the row afterwards.
    fn after_call(row: &str, called: usize) -> String {
        let (mut rocks, mut water) = ([false; 256], [false; 256]);
        let mut kinds = [Kind::Plain; MOST];
        let mut herd = Herd::EMPTY;
        let mut count = 0;
        for (cell, word) in (0_u8..).zip(row.split(' ')) {
            match word.as_bytes() {
                b".." => {}
                b"##" => rocks[usize::from(cell)] = true,
                b"~~" => water[usize::from(cell)] = true,
                &[letter, sign] => {
                    kinds[count] = if letter == b's' {
                        Kind::Shy
                    } else if letter == b'r' {
                        Kind::Restless
                    } else {
                        Kind::Plain
                    };
                    let gaze = b"^>v<z".iter().position(|&known| known == sign).unwrap();
                    herd.set(
                        count,
                        Creature {
                            cell,
                            gaze: GAZES[gaze],
                        },
                    );
                    count += 1;
                }
                _ => panic!("{word}"),
            }
        }
        let land = Land::new(&rocks, &water, kinds, count);
        let call = Call::new(&land, &herd, herd.get(called).cell);
        let answer = answer(&land, &herd, &call, false);
        assert!(!call.is_idle() || answer.is_empty());
        herd = answer.arrived;
        if call.turning != 0 {
            turn(&mut herd, call.turning);
        }
        wake(&mut herd, &answer);
        let shown = |cell: u8| match who_is_at(&herd, cell) {
            Some(who) => format!(
                "{}{}",
                ["p", "a", "b", "s", "r"][kinds[who] as usize],
                ["^", ">", "v", "<", "z"][herd.get(who).gaze as usize]
            ),
            None => if rocks[usize::from(cell)] {
                "##"
            } else if water[usize::from(cell)] {
                "~~"
            } else {
                ".."
            }
            .to_owned(),
        };
        (0..SIDE).map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn looking_at_all_together_is_looking_at_each() {
        let mut rng = rhae_engine::Rng::new(7, 0);
        let land: Vec<Cell> = all_cells().collect();
        let bare = Land::new(&[false; 256], &[false; 256], [Kind::Plain; MOST], MOST);
        for _ in 0..2_000 {
            let mut herd = Herd::EMPTY;
            let count = rng.below(MOST as u32 + 1) as usize;
            for who in 0..count {
                let free: Vec<Cell> = land
                    .iter()
                    .copied()
                    .filter(|&cell| herd.those_at(cell) == 0)
                    .collect();
                herd.set(
                    who,
                    Creature {
                        cell: free[rng.below(free.len() as u32) as usize],
                        gaze: GAZES[rng.below(5) as usize],
                    },
                );
            }
            for &cell in &land {
                let at = |cell: Cell| (0..count).find(|&who| herd.get(who).cell == cell);
                assert_eq!(who_is_at(&herd, cell), at(cell), "{herd:?} {cell:x}");
                for direction in Gaze::DIRECTIONS {
                    let some = herd.ahead(cell, direction.byte());
                    let line = || {
                        (1..)
                            .map(|steps| (direction.from(cell, steps), steps))
                            .take_while(|&(next, _)| is_land(next))
                    };
                    let ahead = line()
                        .filter_map(|(next, _)| at(next))
                        .fold(0, |some, who| some | 0x80 << (8 * who));
                    assert_eq!(some, ahead, "{herd:?} {cell:x} {direction:?}");
                    if some != 0 {
                        let nearest = line().find_map(|(next, steps)| at(next).map(|_| steps));
                        assert_eq!(
                            Some(herd.steps_to(some, cell)),
                            nearest,
                            "{herd:?} {cell:x} {direction:?}"
                        );
                    }
                }
            }
            for called in 0..count {
                let target = herd.get(called).cell;
                let call = Call::new(&bare, &herd, target);
                let answering = answer(&bare, &herd, &call, true);
                assert_eq!(first_of(call.called), called);
                assert_eq!(call.is_idle(), call.turned == 0);
                let sees = |who: &usize| {
                    line_of_sight(&bare, &herd, *who)
                        .last()
                        .unwrap_or(herd.get(*who).cell)
                };
                let next_to_it = |who: &usize| {
                    herd.get(*who).gaze.from(sees(who), 1) == target
                        && herd.get(*who).gaze != Gaze::Asleep
                };
                let looking: Vec<usize> = (0..count).filter(next_to_it).collect();
                assert_eq!(
                    answering.walks().iter().map(Walk::who).collect::<Vec<_>>(),
                    looking,
                    "{herd:?} {target:x}"
                );
            }
        }
    }

    #[test]
    fn whoever_sees_the_called_one_comes_and_looks_along() {
        assert_eq!(
            after_call("p> .. .. pv .. .. p< .. p<", 1),
            ".. .. pv pv pv .. .. .. p<"
        );
        assert_eq!(
            after_call("p> .. ## pv .. .. p> .. ..", 1),
            "p> .. ## pv .. .. p> .. ..",
            "rocks and looking away"
        );
        assert_eq!(
            after_call(".. .. pv p< .. .. .. .. ..", 0),
            ".. .. pv pv .. .. .. .. ..",
            "a turn on the spot"
        );
    }

    #[test]
    fn water_stops_feet_but_not_eyes() {
        assert_eq!(
            after_call("p> .. .. ~~ .. p^ .. .. ..", 1),
            ".. .. p^ ~~ .. p^ .. .. .."
        );
    }

    #[test]
    fn the_shy_back_away_and_keep_looking() {
        assert_eq!(
            after_call(".. .. .. .. s> .. .. p^ ..", 1),
            "s> .. .. .. .. .. .. p^ .."
        );
        assert_eq!(
            after_call(".. ~~ .. .. s> .. .. p^ ..", 1),
            ".. ~~ s> .. .. .. .. p^ .."
        );
    }

    #[test]
    fn a_sleeper_wakes_to_whom_it_is_reached_by() {
        assert_eq!(
            after_call("p> .. .. .. pz .. .. .. ..", 1),
            ".. .. .. p> p< .. .. .. .."
        );
        assert_eq!(
            after_call("s< p^ .. s< .. .. .. .. pz", 1),
            "s< p^ .. .. .. .. .. s< p<"
        );
    }

    #[test]
    fn the_restless_turn_after_they_are_looked_along() {
        assert_eq!(
            after_call("p> .. .. .. r^ .. .. .. ..", 1),
            ".. .. .. p^ r> .. .. .. .."
        );
        assert_eq!(
            after_call(".. .. .. .. r< .. .. .. ..", 0),
            ".. .. .. .. r^ .. .. .. .."
        );
    }
}
