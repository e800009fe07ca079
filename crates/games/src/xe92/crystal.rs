//! Crystals: their symmetries, and the effect of a click.
//!
//! A set of cells is one number with one bit for each cell, row by row, eleven to a row.
//!
//! **Invariant:** no set has a bit beyond the last row.

/// The number of columns and rows of the board.
pub(super) const SIDE: usize = 11;
/// The number of cells of the board.
pub(super) const CELLS: u32 = (SIDE * SIDE) as u32;
/// The number of symmetries of a square.
const SYMMETRIES: usize = 8;
/// A click can touch four crystals, each of which adds images.
const MAX_IMAGES: usize = 4 * SYMMETRIES;

pub(super) type CellSet = u128;

const BOARD: CellSet = (1 << CELLS) - 1;
const FIRST_COLUMN: CellSet = {
    let (mut set, mut y) = (0, 0);
    while y < SIDE {
        set |= 1 << (y * SIDE);
        y += 1;
    }
    set
};
const LAST_COLUMN: CellSet = FIRST_COLUMN << (SIDE - 1);

/// A column and a row. A place outside the board has a coordinate that is negative or at least
/// [`SIDE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) x: i8,
    pub(super) y: i8,
}

impl Cell {
    pub(super) const fn set(self) -> CellSet {
        let side = SIDE as i8;
        if self.x < 0 || self.y < 0 || self.x >= side || self.y >= side {
            return 0;
        }
        1 << (self.y as usize * SIDE + self.x as usize)
    }
}

/// Iterates over the cells of a set.
pub(super) fn cells(mut set: CellSet) -> impl Iterator<Item = Cell> {
    std::iter::from_fn(move || {
        let index = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            Cell {
                x: (index % SIDE) as i8,
                y: (index / SIDE) as i8,
            }
        })
    })
}

/// Returns the cells that share a side with a cell of the set. Cells of the set may be among them.
pub(super) const fn neighbours(set: CellSet) -> CellSet {
    let sideways = (set & !LAST_COLUMN) << 1 | (set & !FIRST_COLUMN) >> 1;
    (sideways | set << SIDE | set >> SIDE) & BOARD
}

/// Returns the connected part of `ice` that contains a cell.
const fn crystal_at(ice: CellSet, seed: CellSet) -> CellSet {
    let mut crystal = seed & ice;
    loop {
        let larger = (crystal | neighbours(crystal)) & ice;
        if larger == crystal {
            return crystal;
        }
        crystal = larger;
    }
}

/// The symmetries of one crystal.
#[derive(Clone, Copy, Debug)]
struct Symmetries {
    /// The sum of the first and the last column of the crystal, which is twice the column of its
    /// centre, and the same for rows.
    twice_center: (i8, i8),
    /// One bit for each symmetry. Bits 0 and 1 of its number mirror columns and rows, bit 2 swaps
    /// columns and rows before that.
    found: u8,
}

impl Symmetries {
    fn of(crystal: CellSet) -> Self {
        let (mut first, mut last) = ((i8::MAX, i8::MAX), (i8::MIN, i8::MIN));
        for Cell { x, y } in cells(crystal) {
            first = (first.0.min(x), first.1.min(y));
            last = (last.0.max(x), last.1.max(y));
        }
        let is_square = last.0 - first.0 == last.1 - first.1;
        let mut symmetries = Self {
            twice_center: (first.0 + last.0, first.1 + last.1),
            found: 0,
        };
        for number in 0..SYMMETRIES as u8 {
            let keeps_box = is_square || number & 4 == 0;
            if keeps_box
                && cells(crystal).all(|cell| symmetries.image(number, cell).set() & crystal != 0)
            {
                symmetries.found |= 1 << number;
            }
        }
        symmetries
    }

    const fn image(&self, number: u8, cell: Cell) -> Cell {
        let (center_x, center_y) = self.twice_center;
        let (mut x, mut y) = (2 * cell.x - center_x, 2 * cell.y - center_y);
        if number & 4 != 0 {
            (x, y) = (y, x);
        }
        if number & 1 != 0 {
            x = -x;
        }
        if number & 2 != 0 {
            y = -y;
        }
        Cell {
            x: (x + center_x) / 2,
            y: (y + center_y) / 2,
        }
    }

    /// Returns the images of a cell, turns before mirrors. Images may repeat.
    fn images(self, cell: Cell) -> impl Iterator<Item = Cell> {
        const TURNS_FIRST: [u8; SYMMETRIES] = [0, 5, 3, 6, 1, 2, 4, 7];
        TURNS_FIRST
            .into_iter()
            .filter(move |&number| self.found >> number & 1 == 1)
            .map(move |number| self.image(number, cell))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Grown,
    Melted,
    Refused,
}

/// The effect of a click, which is computed completely before it is shown or applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Click {
    cell: Cell,
    pub(super) effect: Effect,
    /// The crystal cells after the click.
    pub(super) after: CellSet,
    /// What forbids the click, if it is refused: the rock, the crystal that would break, or the
    /// empty cell that touches nothing.
    pub(super) refusing: CellSet,
    /// The symmetries of the crystals that answer the click.
    answering: [Option<Symmetries>; 4],
}

/// An image of the clicked cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) cell: Cell,
    /// Whether nothing can grow there.
    pub(super) is_lost: bool,
}

impl Click {
    pub(super) fn new(ice: CellSet, rocks: CellSet, cell: Cell) -> Self {
        let clicked = cell.set();
        let mut click = Self {
            cell,
            effect: Effect::Refused,
            after: ice,
            refusing: clicked,
            answering: [None; 4],
        };
        let is_melting = ice & clicked != 0;
        let mut touched = if is_melting {
            clicked
        } else {
            neighbours(clicked) & ice
        };
        if rocks & clicked != 0 || touched == 0 {
            return click;
        }
        let mut images = 0;
        for place in &mut click.answering {
            if touched == 0 {
                break;
            }
            let crystal = crystal_at(ice, touched & touched.wrapping_neg());
            touched &= !crystal;
            let symmetries = Symmetries::of(crystal);
            *place = Some(symmetries);
            images |= symmetries
                .images(cell)
                .fold(0, |set, image| set | image.set());
            if is_melting {
                let rest = crystal & !images;
                let is_whole = crystal_at(rest, rest & rest.wrapping_neg()) == rest;
                if rest == 0 || !is_whole {
                    click.refusing = crystal;
                    return click;
                }
            }
        }
        if is_melting {
            click.effect = Effect::Melted;
            click.after = ice & !images;
        } else {
            click.effect = Effect::Grown;
            click.after = ice | images & !rocks;
        }
        click
    }

    /// Returns the clicked cell and its other images in the order in which they are shown.
    pub(super) fn images(&self) -> Images {
        let mut images = Images {
            list: [Image {
                cell: self.cell,
                is_lost: false,
            }; MAX_IMAGES],
            count: 0,
        };
        for symmetries in self.answering.iter().flatten() {
            for cell in symmetries.images(self.cell) {
                let is_lost = self.effect == Effect::Grown && self.after & cell.set() == 0;
                images.push(Image { cell, is_lost });
            }
        }
        images
    }
}

/// A list of different images.
pub(super) struct Images {
    list: [Image; MAX_IMAGES],
    count: usize,
}

impl Images {
    fn push(&mut self, image: Image) {
        if !self.contains(&image) {
            self.list[self.count] = image;
            self.count += 1;
        }
    }
}

impl std::ops::Deref for Images {
    type Target = [Image];

    fn deref(&self) -> &[Image] {
        &self.list[..self.count]
    }
}
