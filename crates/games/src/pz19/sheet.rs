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
        let stack = folds.stack(self.size, x, y);
        let through = stack.layers().iter().map(|&(x, y)| cell(x, y)).take_while(|layer| layer & self.plates == 0);
        through.fold(0, |cells, layer| cells | layer)
    }

    /// The cells that are open when the work is done.
    pub(super) const fn finished(&self) -> Cells {
        self.wanted | self.gaps
    }

    /// What the folded sheet looks like; `lifted` leaves the last flap out, as if it stood upright.
    #[inline]
    pub(super) fn look(&self, folds: &Folds, open: Cells, lifted: bool) -> Look {
        let mut hull = Hull::flat(self.size);
        // From the lowest layer to the top.
        let mut planes = [Plane::default(); MOST_LAYERS];
        planes[0] = Plane { paper: hull.cells(), open, wanted: self.wanted, plates: self.plates, back: false };
        let mut count = 1;
        for (index, &fold) in folds.list().iter().enumerate() {
            let (crease, sideways) = (hull.crease(fold), fold.toward.is_sideways());
            hull = hull.folded(fold);
            let staying = hull.cells();
            let stands = lifted && index + 1 == folds.list().len();
            // The flap comes upside down onto what stays, so that its top layer lies lowest.
            for layer in 0..count {
                planes[2 * count - 1 - layer] = planes[layer].turned(!staying, sideways, crease, stands);
                planes[layer].paper &= staying;
            }
            count *= 2;
        }
        Look::of(&planes[..count])
    }
}

/// One layer of the folded sheet, in places on the table: the cells that all folds turned alike.
#[derive(Clone, Copy, Default)]
struct Plane {
    paper: Cells,
    open: Cells,
    wanted: Cells,
    plates: Cells,
    back: bool,
}

impl Plane {
    #[inline]
    fn turned(&self, flap: Cells, sideways: bool, crease: u8, stands: bool) -> Self {
        let turn = |set: Cells| mirrored(set & self.paper & flap, sideways, crease);
        let paper = if stands { 0 } else { turn(self.paper) };
        Self { paper, open: turn(self.open), wanted: turn(self.wanted), plates: turn(self.plates), back: !self.back }
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
    /// Where the top layer shows its back.
    pub(super) back: Cells,
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
    #[inline]
    fn of(planes: &[Plane]) -> Self {
        let mut look = Self::default();
        let (mut met, mut stopped) = (0, 0);
        for plane in planes.iter().rev() {
            let back = if plane.back { u64::MAX } else { 0 };
            let top = plane.paper & !look.paper;
            look.back |= top & back;
            look.open |= top & plane.open;
            look.triple |= look.double & plane.paper;
            look.double |= look.paper & plane.paper;
            look.paper |= plane.paper;
            let solid = plane.paper & !plane.open;
            let first = solid & !met;
            look.inner_back |= first & back;
            look.inner_plate |= first & plane.plates;
            met |= solid;
            stopped |= solid & plane.plates;
            look.right |= solid & !stopped & plane.wanted;
            look.wrong |= solid & !stopped & !plane.wanted;
        }
        look.through = look.paper & !met;
        look
    }
}
