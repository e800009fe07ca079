//! What is printed on a sheet, and what a punch and a look at the folded sheet make of it.

use super::paper::{Cells, Folds, Hull, MOST_LAYERS, cell, mirrored};

/// A sheet as it comes fresh onto the table. The sets do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sheet {
    /// Cells on a side.
    pub(super) size: u8,
    /// How often it may be punched.
    pub(super) punches: u8,
    /// The cells to be punched out, all of them and no other.
    pub(super) wanted: Cells,
    /// Cells that are open from the start.
    pub(super) gaps: Cells,
    /// Hard cells: a punch ends on them and spares what lies below.
    pub(super) plates: Cells,
}

impl Sheet {
    /// The cells that a punch on a place goes through, open ones included.
    pub(super) fn punched(&self, folds: &Folds, x: u8, y: u8) -> Cells {
        let cells = folds.lying_on(self.size, x, y);
        if cells & self.plates == 0 {
            return cells;
        }
        // What lies below a plate is spared, so here the order of the layers matters.
        let stack = folds.stack(self.size, x, y);
        let through = stack
            .layers()
            .iter()
            .map(|&(x, y)| cell(x, y))
            .take_while(|layer| layer & self.plates == 0);
        through.fold(0, |cells, layer| cells | layer)
    }

    /// The cells that are open when the work is done.
    pub(super) const fn finished(&self) -> Cells {
        self.wanted | self.gaps
    }

    /// What the folded sheet looks like; `lifted` leaves the last flap out, as if it stood upright. A part of each caller, so that a search,
    /// which asks for punches alone, does not pay for what only pictures need.
    #[inline(always)]
    pub(super) fn look(&self, folds: &Folds, open: Cells, lifted: bool) -> Look {
        let mut hull = Hull::flat(self.size);
        // From the lowest layer to the top.
        let mut planes = [Plane::default(); MOST_LAYERS];
        planes[0] = Plane {
            paper: hull.cells(),
            marked: self.wanted & !open | self.plates,
            special: open | self.plates,
            back: 0,
        };
        let (standing, lying) = match folds.list().split_last() {
            Some((last, earlier)) if lifted => (Some(*last), earlier),
            _ => (None, folds.list()),
        };
        for (index, &fold) in lying.iter().enumerate() {
            let (crease, sideways) = (hull.crease(fold), fold.toward.is_sideways());
            hull = hull.folded(fold);
            // The number of layers and the axis are made constants, for speed.
            match (index, sideways) {
                (0, false) => turn::<1, false>(&mut planes, hull.cells(), crease),
                (0, true) => turn::<1, true>(&mut planes, hull.cells(), crease),
                (1, false) => turn::<2, false>(&mut planes, hull.cells(), crease),
                (1, true) => turn::<2, true>(&mut planes, hull.cells(), crease),
                (_, false) => turn::<4, false>(&mut planes, hull.cells(), crease),
                (_, true) => turn::<4, true>(&mut planes, hull.cells(), crease),
            }
        }
        let staying = standing.map_or(hull, |fold| hull.folded(fold)).cells();
        match lying.len() {
            0 => Look::of::<1>(&planes, staying),
            1 => Look::of::<2>(&planes, staying),
            2 => Look::of::<4>(&planes, staying),
            _ => Look::of::<8>(&planes, staying),
        }
    }
}

/// One layer of the folded sheet, in places on the table: the cells that all folds turned alike.
#[derive(Clone, Copy, Default)]
struct Plane {
    paper: Cells,
    /// Wanted cells that are not open yet, and plates.
    marked: Cells,
    /// Open cells, and plates. Two bits tell all kinds of cells apart, so that there is less to turn.
    special: Cells,
    /// All places if the back is up, else none.
    back: Cells,
}

/// Turns the flap of so many layers over. It comes upside down onto what stays, so that its top layer lies lowest.
#[inline]
fn turn<const LAYERS: usize, const SIDEWAYS: bool>(
    planes: &mut [Plane; MOST_LAYERS],
    staying: Cells,
    crease: u8,
) {
    for layer in 0..LAYERS {
        let plane = planes[layer];
        let flap = plane.paper & !staying;
        let turned = |set: Cells| mirrored::<SIDEWAYS>(set & flap, crease);
        planes[layer].paper &= staying;
        planes[2 * LAYERS - 1 - layer] = Plane {
            paper: turned(plane.paper),
            marked: turned(plane.marked),
            special: turned(plane.special),
            back: !plane.back,
        };
    }
}

/// A folded sheet as sets of places: what can be seen, and what a punch would do on each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// Where there is paper, one layer or more, open or not.
    pub(super) paper: Cells,
    /// Where there are at least two layers.
    pub(super) double: Cells,
    /// Where there are at least three layers.
    pub(super) triple: Cells,
    /// Where the top layer is open.
    pub(super) open: Cells,
    /// Where the first layer that is not open shows its back.
    pub(super) inner_back: Cells,
    /// Where the first layer that is not open is a plate.
    pub(super) inner_plate: Cells,
    /// Where all layers are open.
    pub(super) through: Cells,
    /// Where a punch would make a wanted hole.
    pub(super) right: Cells,
    /// Where a punch would make a hole that is not wanted.
    pub(super) wrong: Cells,
}

impl Look {
    /// Puts so many layers together, within the places that count.
    #[inline(always)]
    fn of<const LAYERS: usize>(planes: &[Plane; MOST_LAYERS], staying: Cells) -> Self {
        let mut look = Self::default();
        let (mut met, mut stopped) = (0, 0);
        for plane in planes[..LAYERS].iter().rev() {
            let paper = plane.paper & staying;
            let open = plane.special & !plane.marked;
            look.open |= paper & !look.paper & open;
            look.triple |= look.double & paper;
            look.double |= look.paper & paper;
            look.paper |= paper;
            let solid = paper & !open;
            let first = solid & !met;
            look.inner_back |= first & plane.back;
            look.inner_plate |= first & plane.special;
            met |= solid;
            stopped |= solid & plane.special;
            look.right |= solid & !stopped & plane.marked;
            look.wrong |= solid & !stopped & !plane.marked;
        }
        look.through = look.paper & !met;
        look
    }
}
