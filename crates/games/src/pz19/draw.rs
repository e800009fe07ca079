//! The drawing code. The table with the sheet is on the left. On the right are the plan of the flat
//! sheet, the punches left, the folds and the spare sheets.
//!
//! The paper is translucent: a mark is drawn as a full disc where a punch would make only marked
//! holes, and as a ring where the punch would also make an unmarked hole.

#[cfg(test)]
mod things;

use rhae_engine::{Direction, Frame, SIZE, StateOf};

use super::Pz19;
use super::paper::{Cells, Folds, Hull, MAX_FOLDS, Refusal, cells_of};
use super::sheet::{Look, Sheet};

const TABLE: u8 = 4;
const PANEL: u8 = 5;
/// Empty slots in the panel, and folds below the last one.
const QUIET: u8 = 3;
const FRONT: u8 = 0;
const BACK: u8 = 10;
const MARK: u8 = 12;
const PLATE: u8 = 9;
const PLATE_LIGHT: u8 = 10;
const PUNCH: u8 = 15;
/// The last fold, which an arrow key rolls further and ACTION5 opens.
const LAST: u8 = 11;
const RUINED: u8 = 6;
/// The lines between cells darken with the number of layers: one, two, more.
const LINES: [u8; 3] = [1, 2, 3];
const HOLE_RIM: u8 = 3;

/// The pixels along a side of a cell, of which the last is the line to the next cell.
const CELL: usize = 5;
/// The pixels along a side of a cell in the plan.
const PLAN_CELL: usize = 2;
const TABLE_WIDTH: usize = 44;
const PLAN_TOP: usize = 8;
const PUNCHES: (usize, usize) = (45, 31);
/// The distance between punches, so that four of them fit into the panel.
const PUNCH_PITCH: usize = 5;
const SLOTS: (usize, usize) = (46, 41);
const SPARES: (usize, usize) = (46, 52);

type Sprite = [[u8; CELL]; CELL];
type Disc = [[u8; 4]; 4];

const fn disc(fill: u8, ground: u8, center: u8) -> Disc {
    let (f, g, c) = (fill, ground, center);
    [[g, f, f, g], [f, c, c, f], [f, c, c, f], [g, f, f, g]]
}

/// The number of kinds of cells. The six bits of a kind are, from the lowest: the content (two
/// bits: nothing, a ring, a disc, or special), whether the content is on the back of the paper (for
/// special content, set means the table and clear means a plate), the number of layers (two bits:
/// one, two, more, none), and whether the top layer is open.
const KINDS: usize = 64;

/// Computes the kinds of all places at once. Each returned set contains the places whose kind has
/// that bit.
fn kinds(look: &Look, outline: Cells) -> [Cells; 6] {
    let special = look.inner_plate | look.through;
    let gone = outline & !look.paper;
    [
        look.right & look.wrong | special,
        look.right & !look.wrong | special,
        look.inner_back & !look.inner_plate | look.through,
        look.double & !look.triple | gone,
        look.triple | gone,
        look.open,
    ]
}

/// The image of each kind. Rows are padded to eight pixels so that each is a single store.
static PICTURES: [[[u8; 8]; CELL]; KINDS] = {
    let mut pictures = [[[TABLE; 8]; CELL]; KINDS];
    let mut kind = 0;
    while kind < KINDS {
        let layers = kind >> 3 & 3;
        let on_back = kind & 4 != 0;
        let ground = if on_back { BACK } else { FRONT };
        let inside = match (kind & 3, on_back) {
            (0, _) => [[ground; 4]; 4],
            (1, _) => disc(MARK, ground, ground),
            (2, _) => disc(MARK, ground, MARK),
            (_, true) => [[TABLE; 4]; 4],
            (_, false) => {
                let (d, l) = (PLATE, PLATE_LIGHT);
                [[d, d, d, d], [d, l, l, d], [d, l, l, d], [d, d, d, d]]
            }
        };
        let mut at = 0;
        while layers < LINES.len() && at < CELL * CELL {
            let (x, y) = (at % CELL, at / CELL);
            let line = if kind & 32 != 0 {
                HOLE_RIM
            } else {
                LINES[layers]
            };
            pictures[kind][y][x] = if x < 4 && y < 4 { inside[y][x] } else { line };
            at += 1;
        }
        kind += 1;
    }
    pictures
};

/// For each value of a byte, a number that holds its eight bits as the lowest bits of eight bytes.
static SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= (byte as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// The constant parts of a level's image, and the position of its parts.
pub(super) struct Canvas {
    flat: Frame,
    bare: Frame,
    origin: usize,
    top: usize,
    plan: usize,
    size: u8,
}

impl Canvas {
    pub(super) fn new(sheet: &Sheet) -> Self {
        let side = usize::from(sheet.size);
        let mut bare = Frame::filled(TABLE);
        bare.rect(TABLE_WIDTH, 0, 64 - TABLE_WIDTH, 64, PANEL);
        let plan = TABLE_WIDTH + (64 - TABLE_WIDTH - PLAN_CELL * side) / 2;
        let (origin, top) = ((TABLE_WIDTH - CELL * side) / 2, (64 - CELL * side) / 2);
        for slot in 0..MAX_FOLDS {
            bare.outline(SLOTS.0 + 6 * slot, SLOTS.1, 5, 5, QUIET);
        }
        for token in 0..usize::from(sheet.punches) {
            bare.stamp(
                PUNCHES.0 + PUNCH_PITCH * token,
                PUNCHES.1,
                &disc(QUIET, PANEL, PANEL),
            );
        }
        for spare in 0..usize::from(super::SHEETS) - 1 {
            bare.outline(SPARES.0 + 7 * spare, SPARES.1, 6, 6, QUIET);
        }
        for (x, y) in cells_of(Hull::flat(sheet.size).cells()) {
            bare.block::<2, 2>(
                plan + PLAN_CELL * usize::from(x),
                PLAN_TOP + PLAN_CELL * usize::from(y),
                FRONT + (x + y) % 2,
            );
        }
        let mut canvas = Self {
            flat: bare.clone(),
            bare,
            origin,
            top,
            plan,
            size: sheet.size,
        };
        for (set, color) in [
            (sheet.wanted, MARK),
            (sheet.plates, PLATE),
            (sheet.gaps, PANEL),
        ] {
            for place in cells_of(set) {
                let (x, y) = canvas.plan_place(place);
                canvas.bare.block::<2, 2>(x, y, color);
            }
        }
        let mut flat = canvas.bare.clone();
        let look = sheet.look(&Folds::NONE, sheet.gaps, false);
        canvas.cells(&look, look.paper, &mut flat);
        canvas.flat = flat;
        canvas
    }

    /// Returns the place of the table under a pixel, within the outline of the flat sheet.
    pub(super) fn place_of(&self, (x, y): (u8, u8)) -> Option<(u8, u8)> {
        let across = usize::from(x).checked_sub(self.origin)? / CELL;
        let down = usize::from(y).checked_sub(self.top)? / CELL;
        let size = usize::from(self.size);
        (across < size && down < size).then_some((across as u8, down as u8))
    }

    /// Returns a pixel in the middle of a place.
    pub(super) fn middle_of(&self, place: (u8, u8)) -> (u8, u8) {
        let (x, y) = self.corner(place);
        ((x + 2) as u8, (y + 2) as u8)
    }

    /// Draws the settled frame.
    pub(super) fn settled(&self, sheet: &Sheet, state: &StateOf<Pz19>, frame: &mut Frame) {
        if state.spent.0 == 0 {
            frame.copy_from(&self.bare);
            return;
        }
        self.table(sheet, state, false, frame);
        self.panel(sheet, state, frame);
    }

    /// Draws the last flap standing upright on its crease.
    pub(super) fn lifted(&self, sheet: &Sheet, state: &StateOf<Pz19>, frame: &mut Frame) {
        self.table(sheet, state, true, frame);
        self.panel(sheet, state, frame);
        self.crease::<2>(&state.board.folds, BACK, frame);
    }

    /// Shows that a key cannot fold: the fold slots or the edge that prevents the fold light up.
    pub(super) fn refused(
        &self,
        sheet: &Sheet,
        state: &StateOf<Pz19>,
        refusal: Refusal,
        toward: Direction,
        frame: &mut Frame,
    ) {
        self.settled(sheet, state, frame);
        match refusal {
            Refusal::TooManyFolds => ring::<19, 7>((SLOTS.0 - 1, SLOTS.1 - 1), LAST, frame),
            Refusal::HalfIsTurned => {
                // The edge that the flap has reached.
                self.edge::<2>(state.board.folds.hull(self.size), toward, LAST, frame);
            }
        }
    }

    /// Shows that ACTION5 has no fold to open: the fold slots light up.
    pub(super) fn nothing_to_open(&self, sheet: &Sheet, state: &StateOf<Pz19>, frame: &mut Frame) {
        self.settled(sheet, state, frame);
        ring::<19, 7>((SLOTS.0 - 1, SLOTS.1 - 1), LAST, frame);
    }

    /// Marks a click that makes no hole.
    pub(super) fn missed(
        &self,
        sheet: &Sheet,
        state: &StateOf<Pz19>,
        click: (u8, u8),
        frame: &mut Frame,
    ) {
        self.settled(sheet, state, frame);
        let place = self.place_of(click).map(|place| self.corner(place));
        let (x, y) = place.unwrap_or((
            usize::from(click.0).saturating_sub(2),
            usize::from(click.1).saturating_sub(2),
        ));
        ring::<4, 4>((x, y), PUNCH, frame);
    }

    /// Draws the punch coming down.
    pub(super) fn punching(
        &self,
        sheet: &Sheet,
        state: &StateOf<Pz19>,
        place: (u8, u8),
        frame: &mut Frame,
    ) {
        self.settled(sheet, state, frame);
        let (x, y) = self.corner(place);
        ring::<6, 6>((x - 1, y - 1), PUNCH, frame);
        frame.block::<4, 4>(x, y, PUNCH);
    }

    /// Highlights the new holes in the plan.
    pub(super) fn punched(
        &self,
        sheet: &Sheet,
        state: &StateOf<Pz19>,
        holes: Cells,
        frame: &mut Frame,
    ) {
        self.settled(sheet, state, frame);
        for place in cells_of(holes) {
            self.in_plan(place, PUNCH, frame);
        }
    }

    /// Draws the wrong holes, or the missing marks, blinking on the opened sheet.
    pub(super) fn ruined(
        &self,
        sheet: &Sheet,
        state: &StateOf<Pz19>,
        cells: Cells,
        lit: bool,
        frame: &mut Frame,
    ) {
        self.settled(sheet, state, frame);
        if lit {
            self.light(cells, RUINED, frame);
        }
    }

    /// Shows that a spare sheet replaces a ruined one: it lights up in the panel, then it is on its
    /// way to the table.
    pub(super) fn spare_taken(
        &self,
        sheet: &Sheet,
        state: &StateOf<Pz19>,
        moved: bool,
        frame: &mut Frame,
    ) {
        self.settled(sheet, state, frame);
        let x = SPARES.0 + 7 * (usize::from(state.spent.0) - 2);
        if moved {
            frame.block::<6, 6>(x, SPARES.1, PANEL);
            frame.outline(x, SPARES.1, 6, 6, QUIET);
            frame.stamp(TABLE_WIDTH - 8, SPARES.1 - 8, &SPARE);
            ring::<8, 8>((TABLE_WIDTH - 9, SPARES.1 - 9), LAST, frame);
        } else {
            ring::<8, 8>((x - 1, SPARES.1 - 1), LAST, frame);
        }
    }

    /// Draws the holes of a finished sheet in light colours.
    pub(super) fn finished(
        &self,
        sheet: &Sheet,
        state: &StateOf<Pz19>,
        phase: u8,
        frame: &mut Frame,
    ) {
        self.settled(sheet, state, frame);
        self.light(sheet.wanted, if phase == 0 { LAST } else { MARK }, frame);
    }

    /// Fills cells of the flat sheet, on the table and in the plan.
    fn light(&self, cells: Cells, color: u8, frame: &mut Frame) {
        for place in cells_of(cells) {
            let (x, y) = self.corner(place);
            frame.block::<4, 4>(x, y, color);
            self.in_plan(place, color, frame);
        }
    }

    fn corner(&self, (x, y): (u8, u8)) -> (usize, usize) {
        (
            self.origin + CELL * usize::from(x),
            self.top + CELL * usize::from(y),
        )
    }

    fn plan_place(&self, (x, y): (u8, u8)) -> (usize, usize) {
        (
            self.plan + PLAN_CELL * usize::from(x),
            PLAN_TOP + PLAN_CELL * usize::from(y),
        )
    }

    fn in_plan(&self, place: (u8, u8), color: u8, frame: &mut Frame) {
        let (x, y) = self.plan_place(place);
        frame.block::<2, 2>(x, y, color);
    }

    /// Draws the table with the sheet. It starts from the flat sheet and draws the differences, or
    /// from the bare table and draws the whole sheet, whichever is less work.
    fn table(&self, sheet: &Sheet, state: &StateOf<Pz19>, lifted: bool, frame: &mut Frame) {
        let folds = &state.board.folds;
        if folds.list().is_empty() && state.board.open == sheet.gaps {
            frame.copy_from(&self.flat);
            return;
        }
        let look = sheet.look(folds, state.board.open, lifted);
        let changed = (look.double | look.open | !look.paper) & Hull::flat(self.size).cells();
        if look.paper.count_ones() < changed.count_ones() {
            frame.copy_from(&self.bare);
            self.cells(&look, look.paper, frame);
        } else {
            frame.copy_from(&self.flat);
            self.cells(&look, changed, frame);
        }
        self.crease::<1>(folds, LAST, frame);
    }

    /// Draws the cells of the bounding rectangle of `places`, except in rows without any of them.
    fn cells(&self, look: &Look, places: Cells, frame: &mut Frame) {
        let outline = Hull::flat(self.size).cells();
        let changed = places.to_le_bytes();
        let columns = changed.iter().fold(0, |columns, row| columns | row);
        if columns == 0 {
            return;
        }
        let (first, last) = (
            columns.trailing_zeros() as usize,
            7 - columns.leading_zeros() as usize,
        );
        let kinds = kinds(look, outline);
        for (row, _) in changed
            .iter()
            .enumerate()
            .filter(|&(_, &changed)| changed != 0)
        {
            let bits = kinds.iter().enumerate();
            let spread = bits.fold(0, |spread, (bit, set)| {
                spread | SPREAD[usize::from((set >> (8 * row)) as u8)] << bit
            });
            let kinds = spread.to_le_bytes();
            let corner = (self.top + CELL * row) * SIZE + self.origin;
            // A wide store writes three extra pixels, which the next cell overwrites. Nothing
            // follows the last cell, so it is drawn with its exact width.
            let mut start = corner + CELL * first;
            for &kind in &kinds[first..last] {
                cell_picture::<8>(kind, start, frame);
                start += CELL;
            }
            cell_picture::<CELL>(kinds[last], start, frame);
        }
    }

    /// Draws a line along the crease of the last fold.
    fn crease<const THICKNESS: usize>(&self, folds: &Folds, color: u8, frame: &mut Frame) {
        if let Some(fold) = folds.list().last() {
            self.edge::<THICKNESS>(folds.hull(self.size), fold.toward.opposite(), color, frame);
        }
    }

    /// Draws a line just outside one edge of the folded sheet, cell by cell, because blocks of
    /// constant size are fast.
    fn edge<const THICKNESS: usize>(
        &self,
        hull: Hull,
        side: Direction,
        color: u8,
        frame: &mut Frame,
    ) {
        let (left, top) = self.corner((hull.left(), hull.top()));
        let (right, bottom) = self.corner((hull.right(), hull.bottom()));
        if side.is_sideways() {
            let x = if side == Direction::Left {
                left - THICKNESS
            } else {
                right
            };
            for y in (top..bottom).step_by(CELL) {
                frame.block::<THICKNESS, CELL>(x, y, color);
            }
        } else {
            let y = if side == Direction::Up {
                top - THICKNESS
            } else {
                bottom
            };
            for x in (left..right).step_by(CELL) {
                frame.block::<CELL, THICKNESS>(x, y, color);
            }
        }
    }

    fn panel(&self, sheet: &Sheet, state: &StateOf<Pz19>, frame: &mut Frame) {
        for place in cells_of(state.board.open & !sheet.gaps) {
            self.in_plan(place, PANEL, frame);
        }
        const TOKEN: Disc = disc(PUNCH, PANEL, PUNCH);
        for token in 0..usize::from(state.board.punches) {
            frame.stamp(PUNCHES.0 + PUNCH_PITCH * token, PUNCHES.1, &TOKEN);
        }
        let folds = &state.board.folds;
        for (slot, &fold) in folds.list().iter().enumerate() {
            let last = slot + 1 == folds.list().len();
            frame.stamp(
                SLOTS.0 + 6 * slot,
                SLOTS.1,
                &SLOT_SPRITES[fold.toward as usize][usize::from(last)],
            );
        }
        for spare in 0..usize::from(state.spent.0).saturating_sub(1) {
            frame.stamp(SPARES.0 + 7 * spare, SPARES.1, &SPARE);
        }
    }
}

/// Draws the outline of a rectangle of constant size, which takes only a few stores.
fn ring<const WIDTH: usize, const HEIGHT: usize>(
    (x, y): (usize, usize),
    color: u8,
    frame: &mut Frame,
) {
    frame.block::<WIDTH, 1>(x, y, color);
    frame.block::<WIDTH, 1>(x, y + HEIGHT - 1, color);
    frame.block::<1, HEIGHT>(x, y, color);
    frame.block::<1, HEIGHT>(x + WIDTH - 1, y, color);
}

/// Copies `WIDTH` pixels of each row of a kind's image.
#[inline]
fn cell_picture<const WIDTH: usize>(kind: u8, start: usize, frame: &mut Frame) {
    let area = &mut frame.cells_mut()[start..start + (CELL - 1) * SIZE + WIDTH];
    for (y, pixels) in PICTURES[usize::from(kind) % KINDS].iter().enumerate() {
        area[y * SIZE..y * SIZE + WIDTH].copy_from_slice(&pixels[..WIDTH]);
    }
}

const SPARE: [[u8; 6]; 6] = {
    let (f, l) = (FRONT, LINES[0]);
    [
        [f, f, l, f, f, l],
        [f, f, l, f, f, l],
        [l; 6],
        [f, f, l, f, f, l],
        [f, f, l, f, f, l],
        [l; 6],
    ]
};

/// For each direction of a fold, a small sheet whose folded side is coloured: first for an earlier
/// fold, then for the last one.
const SLOT_SPRITES: [[Sprite; 2]; 4] = {
    let mut sprites = [[[[FRONT; CELL]; CELL]; 2]; 4];
    let mut index = 0;
    while index < 8 {
        let color = if index % 2 == 0 { QUIET } else { LAST };
        let mut at = 0;
        while at < 2 * CELL {
            let (along, across) = (at % CELL, at / CELL);
            let (x, y) = match index / 2 {
                0 => (along, CELL - 1 - across),
                1 => (along, across),
                2 => (CELL - 1 - across, along),
                _ => (across, along),
            };
            sprites[index / 2][index % 2][y][x] = color;
            at += 1;
        }
        index += 1;
    }
    sprites
};
