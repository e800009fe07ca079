//! The marks on a sheet, and their combination with the folds: the effect of a punch and the
//! appearance of the folded sheet.

use super::paper::{Cells, Folds, Hull, MAX_LAYERS, cell, mirrored};

/// A fresh sheet. Its three sets of cells do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sheet {
    /// The number of cells along a side.
    pub(super) size: u8,
    /// The number of punches allowed.
    pub(super) punches: u8,
    /// The marked cells: exactly these must be punched out.
    pub(super) wanted: Cells,
    /// The cells that are open from the start.
    pub(super) gaps: Cells,
    /// Hard cells: a punch stops at them and spares the layers below.
    pub(super) plates: Cells,
}

impl Sheet {
    /// Returns the cells that a punch at a place goes through, including open ones.
    pub(super) fn punched(&self, folds: &Folds, x: u8, y: u8) -> Cells {
        let cells = folds.cells_at(self.size, x, y);
        if cells & self.plates == 0 {
            return cells;
        }
        // The layers below a plate are spared, so the order of the layers matters.
        let stack = folds.stack(self.size, x, y);
        let through = stack
            .layers()
            .iter()
            .map(|&(x, y)| cell(x, y))
            .take_while(|layer| layer & self.plates == 0);
        through.fold(0, |cells, layer| cells | layer)
    }

    /// Returns the open cells of a finished sheet.
    pub(super) const fn finished(&self) -> Cells {
        self.wanted | self.gaps
    }

    /// Computes the appearance of the folded sheet. If `lifted` is true, the last flap is omitted,
    /// as if it stood upright. The function is inlined into each caller so that a search, which
    /// needs only the effect of punches, does not compute the parts that only drawing needs.
    #[inline(always)]
    pub(super) fn look(&self, folds: &Folds, open: Cells, lifted: bool) -> Look {
        let mut hull = Hull::flat(self.size);
        // From the lowest layer to the top.
        let mut planes = [Plane::default(); MAX_LAYERS];
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
            // In each call the number of layers and the axis are compile-time constants, which
            // makes the calls fast.
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

/// One layer of the folded sheet, in table coordinates: the cells that all folds have moved in the
/// same way.
#[derive(Clone, Copy, Default)]
struct Plane {
    paper: Cells,
    /// Marked cells that are not open yet, and plates.
    marked: Cells,
    /// Open cells, and plates. Two bits distinguish all kinds of cells, so fewer sets have to be
    /// mirrored.
    special: Cells,
    /// All places if the back of the layer faces up, otherwise none.
    back: Cells,
}

/// Turns over a flap of `LAYERS` layers. The flap then lies upside down on the rest, so its top
/// layer becomes its lowest one.
#[inline]
fn turn<const LAYERS: usize, const SIDEWAYS: bool>(
    planes: &mut [Plane; MAX_LAYERS],
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

/// A folded sheet as sets of places: its appearance, and the effect of a punch at each place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// Places with at least one layer of paper, open or not.
    pub(super) paper: Cells,
    /// Places with at least two layers.
    pub(super) double: Cells,
    /// Places with at least three layers.
    pub(super) triple: Cells,
    /// Places where the top layer is open.
    pub(super) open: Cells,
    /// Places where the first layer that is not open shows its back.
    pub(super) inner_back: Cells,
    /// Places where the first layer that is not open is a plate.
    pub(super) inner_plate: Cells,
    /// Places where all layers are open.
    pub(super) through: Cells,
    /// Places where a punch would make a marked hole.
    pub(super) right: Cells,
    /// Places where a punch would make a hole that is not marked.
    pub(super) wrong: Cells,
}

impl Look {
    /// Combines the layers within the places of `staying`.
    #[inline(always)]
    fn of<const LAYERS: usize>(planes: &[Plane; MAX_LAYERS], staying: Cells) -> Self {
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
