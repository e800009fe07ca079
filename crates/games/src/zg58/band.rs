//! Rubber bands around pegs, and how keys move the beads inside them.
//!
//! Points have the coordinates of the text maps. Pegs are on the corners of cells, which have even
//! coordinates. The middles of cells have odd coordinates.
//!
//! **Invariant:** the set of a band's enclosed pegs is closed: it contains every peg of the band
//! that its hull encloses or touches, and its hull has at least three corners.

use rhae_engine::Direction;

/// The number of columns and rows of cells.
pub(super) const SIDE: usize = 7;
pub(super) const BANDS: usize = 2;
pub(super) const MAX_BEADS: usize = 3;
/// The cell of a bead that the level does not have.
pub(super) const NOWHERE: Cell = 63;

pub(super) type Cell = u8;
/// One bit for each cell, row by row.
pub(super) type CellSet = u64;
/// One bit for each peg of a band.
pub(super) type PegSet = u8;

pub(super) const fn bit(cell: Cell) -> CellSet {
    1 << cell
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub(super) x: i8,
    pub(super) y: i8,
}

/// The shape of a band around some of its pegs.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The corners in order, as indices of pegs.
    pub(super) corners: Vec<usize>,
    /// All pegs of the band that are inside or on the edge.
    closed: PegSet,
    /// The cells whose middles are inside.
    pub(super) inside: CellSet,
}

#[derive(Clone, Debug)]
pub(super) struct Band {
    pub(super) pegs: Vec<Point>,
    /// The shape around each set of pegs.
    shapes: Vec<Shape>,
}

/// Returns a positive number if the path from `a` over `b` to `c` turns clockwise on the screen, a
/// negative number if it turns counterclockwise, and 0 if the points are in line.
fn turn(a: Point, b: Point, c: Point) -> i32 {
    let (bx, by) = (i32::from(b.x - a.x), i32::from(b.y - a.y));
    let (cx, cy) = (i32::from(c.x - a.x), i32::from(c.y - a.y));
    bx * cy - by * cx
}

impl Band {
    pub(super) fn new(pegs: Vec<Point>) -> Self {
        let mut band = Self {
            pegs,
            shapes: Vec::new(),
        };
        let sets = 0..1_u16 << band.pegs.len();
        band.shapes = sets.map(|set| band.measure(set as PegSet)).collect();
        band
    }

    pub(super) fn shape(&self, enclosed: PegSet) -> &Shape {
        &self.shapes[usize::from(enclosed)]
    }

    fn measure(&self, set: PegSet) -> Shape {
        let corners = self.hull(set);
        let encloses = |point: Point, strictly: bool| {
            corners.len() >= 3
                && (0..corners.len()).all(|index| {
                    let next = corners[(index + 1) % corners.len()];
                    let turn = turn(self.pegs[corners[index]], self.pegs[next], point);
                    if strictly { turn > 0 } else { turn >= 0 }
                })
        };
        let closed = (0..self.pegs.len())
            .filter(|&peg| encloses(self.pegs[peg], false))
            .fold(0, |set, peg| set | 1 << peg);
        let inside = (0..(SIDE * SIDE) as Cell)
            .filter(|&cell| encloses(middle(cell), true))
            .fold(0, |set, cell| set | bit(cell));
        Shape {
            corners,
            closed,
            inside,
        }
    }

    /// Returns the corners of the convex hull of some pegs in clockwise order.
    fn hull(&self, set: PegSet) -> Vec<usize> {
        let mut sorted: Vec<usize> = (0..self.pegs.len())
            .filter(|&peg| set >> peg & 1 == 1)
            .collect();
        sorted.sort_unstable_by_key(|&peg| self.pegs[peg]);
        let chain = |pegs: &mut dyn Iterator<Item = usize>| {
            let mut chain: Vec<usize> = Vec::new();
            for peg in pegs {
                while let [.., a, b] = chain[..]
                    && turn(self.pegs[a], self.pegs[b], self.pegs[peg]) <= 0
                {
                    chain.pop();
                }
                chain.push(peg);
            }
            chain.pop();
            chain
        };
        let mut corners = chain(&mut sorted.iter().copied());
        corners.extend(chain(&mut sorted.iter().rev().copied()));
        corners
    }

    /// Returns the pegs that the band encloses after a click on `peg`: the band is pulled over a
    /// free peg, or slips off a corner. Returns `None` if the peg is enclosed but not a corner, or
    /// if fewer than three corners would remain.
    pub(super) fn toggled(&self, enclosed: PegSet, peg: usize) -> Option<PegSet> {
        if enclosed >> peg & 1 == 0 {
            return Some(self.shape(enclosed | 1 << peg).closed);
        }
        let rest = enclosed & !(1 << peg);
        let is_corner = self.shape(enclosed).corners.contains(&peg);
        (is_corner && self.shape(rest).corners.len() >= 3).then_some(rest)
    }
}

/// Returns the middle of a cell.
pub(super) const fn middle(cell: Cell) -> Point {
    Point {
        x: (2 * (cell as usize % SIDE) + 1) as i8,
        y: (2 * (cell as usize / SIDE) + 1) as i8,
    }
}

/// What a key does to a bead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The bead is in no band or in both.
    Still,
    Moves(Cell),
    /// Something is in the way in this direction.
    Stopped(Direction),
}

/// Returns what a key does to each bead. `inside` contains the cells inside each band. Beads in the
/// first band follow the key, and beads in the second band move in the opposite direction.
pub(super) fn steps(
    rocks: CellSet,
    inside: [CellSet; BANDS],
    beads: &[Cell; MAX_BEADS],
    count: usize,
    key: Direction,
) -> [Step; MAX_BEADS] {
    let holders = |cell: Cell| inside.map(|inside| inside & bit(cell) != 0);
    let alone = |bead: usize| {
        let cell = beads[bead];
        let direction = match holders(cell) {
            [true, false] => key,
            [false, true] => key.opposite(),
            _ => return Step::Still,
        };
        match neighbour(cell, direction) {
            Some(goal) if rocks & bit(goal) == 0 && holders(goal) == holders(cell) => {
                Step::Moves(goal)
            }
            _ => Step::Stopped(direction),
        }
    };
    let mut steps = [Step::Still; MAX_BEADS];
    for (bead, step) in steps.iter_mut().enumerate().take(count) {
        *step = alone(bead);
    }
    // A stopped bead may stop others, so this repeats until nothing changes.
    loop {
        let known = steps;
        for bead in 0..count {
            if let Step::Moves(goal) = known[bead]
                && (0..count).any(|other| {
                    other != bead && is_in_the_way(beads, &known, other, beads[bead], goal)
                })
            {
                let is_first = holders(beads[bead])[0];
                steps[bead] = Step::Stopped(if is_first { key } else { key.opposite() });
            }
        }
        if steps == known {
            return steps;
        }
    }
}

/// Returns whether `bead` prevents another bead from moving from `from` to `to`: it stays on `to`,
/// wants to move to `to` as well, or wants to exchange places.
fn is_in_the_way(
    beads: &[Cell; MAX_BEADS],
    steps: &[Step; MAX_BEADS],
    bead: usize,
    from: Cell,
    to: Cell,
) -> bool {
    match steps[bead] {
        Step::Moves(goal) => goal == to || beads[bead] == to && goal == from,
        Step::Still | Step::Stopped(_) => beads[bead] == to,
    }
}

/// Returns the neighbouring cell in a direction, or `None` at the edge of the board.
fn neighbour(cell: Cell, direction: Direction) -> Option<Cell> {
    let (x, y) = (usize::from(cell) % SIDE, usize::from(cell) / SIDE);
    let (dx, dy) = direction.delta();
    let x = x.checked_add_signed(dx).filter(|&x| x < SIDE)?;
    let y = y.checked_add_signed(dy).filter(|&y| y < SIDE)?;
    Some((y * SIDE + x) as Cell)
}
