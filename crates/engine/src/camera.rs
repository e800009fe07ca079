//! The visible part of a level and its placement on the frame.
//!
//! A camera does not own sprites or overlays: they are passed to the drawing functions.

use crate::fit::Fit;
use crate::{Frame, Overlay, SIZE, Sprite, SpriteError};

/// A window onto a level, which is drawn in the middle of the frame with the largest integer zoom
/// that fits.
///
/// Level coordinates are unbounded and address cells of the level, as the positions of
/// [`Sprite`]s do. Display coordinates address the 64 × 64 cells of the frame, as clicks do. The
/// camera converts between them. The part of the frame outside the window is the letter-box.
///
/// # Invariants
///
/// * The window has at most 64 × 64 cells.
/// * After [`Camera::render`], each cell of the frame shows the level cell that
///   [`Camera::display_to_grid`] returns for it, or the letter-box if that function returns `None`.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Camera, Frame, Picture, Sprite};
///
/// // A window of 16 × 8 cells at zoom 4, with letter-box bars of 16 rows above and below.
/// let camera = Camera::new(16, 8)?.colored(0, 5);
/// let player = Sprite::new("player", Picture::from_rows(&[[9]])?).at(2, 1);
/// let mut frame = Frame::filled(0);
/// camera.render([&player], &mut frame);
///
/// assert_eq!(camera.zoom(), 4);
/// assert_eq!(camera.grid_to_display(2, 1), Some((8, 20)));
/// assert_eq!(frame.get(8, 20), 9);
/// assert_eq!(frame.get(0, 0), 5, "letter-box");
/// // A click on any of the 4 × 4 display cells finds the player's level cell.
/// assert_eq!(camera.display_to_grid(11, 23), Some((2, 1)));
/// # Ok::<(), rhae_engine::SpriteError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Camera {
    /// The level column at the left edge of the window.
    pub x: i32,
    /// The level row at the upper edge of the window.
    pub y: i32,
    /// The colour of window cells that no sprite covers; black by default.
    pub background: i8,
    /// The colour outside the window; black by default.
    pub letter_box: i8,
    width: usize,
    height: usize,
}

/// A window of 64 × 64 cells at the origin of the level, with black background and letter-box.
impl Default for Camera {
    fn default() -> Self {
        Self {
            x: 0,
            y: 0,
            background: 5,
            letter_box: 5,
            width: SIZE,
            height: SIZE,
        }
    }
}

impl Camera {
    /// Creates a window of this size at the origin of the level, with black background and
    /// letter-box.
    ///
    /// A window without cells is allowed, as in the official engine. The official engine fails to
    /// draw it; here the whole frame is letter-box.
    ///
    /// # Errors
    ///
    /// Returns [`SpriteError::CameraSize`] if a side is above 64.
    pub fn new(width: usize, height: usize) -> Result<Self, SpriteError> {
        let mut camera = Self::default();
        camera.resize(width, height)?;
        Ok(camera)
    }

    /// Sets the position of the window.
    #[must_use]
    pub const fn at(mut self, x: i32, y: i32) -> Self {
        (self.x, self.y) = (x, y);
        self
    }

    /// Sets the colours of the background and of the letter-box.
    #[must_use]
    pub const fn colored(mut self, background: i8, letter_box: i8) -> Self {
        (self.background, self.letter_box) = (background, letter_box);
        self
    }

    /// Sets the size of the window.
    ///
    /// # Errors
    ///
    /// Returns [`SpriteError::CameraSize`] if a side is above 64.
    pub const fn resize(&mut self, width: usize, height: usize) -> Result<(), SpriteError> {
        if width > SIZE || height > SIZE {
            return Err(SpriteError::CameraSize { width, height });
        }
        self.width = width;
        self.height = height;
        Ok(())
    }

    /// Moves the window. Coordinates saturate at the limits of `i32`.
    pub const fn move_by(&mut self, dx: i32, dy: i32) {
        self.x = self.x.saturating_add(dx);
        self.y = self.y.saturating_add(dy);
    }

    /// Returns the width of the window in level cells.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns the height of the window in level cells.
    pub const fn height(&self) -> usize {
        self.height
    }

    /// Returns the side of a level cell in display cells, or 0 if the window has no cells.
    pub fn zoom(&self) -> usize {
        self.fit().map_or(0, |fit| fit.zoom)
    }

    /// Returns the level cell shown at a display cell, or `None` outside the window.
    pub fn display_to_grid(&self, x: i32, y: i32) -> Option<(i32, i32)> {
        let fit = self.fit()?;
        let cell = |place: i32, start: usize, length: usize| {
            let offset = usize::try_from(place).ok()?.checked_sub(start)? / fit.zoom;
            (offset < length).then_some(offset as i32)
        };
        let (column, row) = (
            cell(x, fit.left, self.width)?,
            cell(y, fit.top, self.height)?,
        );
        Some((self.x.saturating_add(column), self.y.saturating_add(row)))
    }

    /// Returns the upper left display cell of a level cell, or `None` if the level cell is not in
    /// the window.
    pub fn grid_to_display(&self, x: i32, y: i32) -> Option<(u8, u8)> {
        let fit = self.fit()?;
        let place = |cell: i32, camera: i32, start: usize, length: usize| {
            let offset = usize::try_from(i64::from(cell) - i64::from(camera)).ok()?;
            (offset < length).then(|| (start + offset * fit.zoom) as u8)
        };
        Some((
            place(x, self.x, fit.left, self.width)?,
            place(y, self.y, fit.top, self.height)?,
        ))
    }

    /// Draws the background, the visible sprites and the letter-box. Together they set every cell
    /// of the frame. Lower layers are drawn first; within a layer, sprites are drawn in the given
    /// order.
    pub fn render<'a>(
        &self,
        sprites: impl IntoIterator<Item = &'a Sprite, IntoIter: Clone>,
        frame: &mut Frame,
    ) {
        self.render_view(sprites, frame);
        self.spread(frame);
    }

    /// Enlarges the window by its zoom, centres it on the frame and draws the letter-box around it.
    /// The window must already be drawn at scale 1 in the upper left corner; see
    /// [`render_view`](Self::render_view).
    pub fn spread(&self, frame: &mut Frame) {
        let letter_box = self.letter_box.cast_unsigned();
        match self.fit() {
            Some(fit) => fit.spread(frame, letter_box),
            None => frame.clear(letter_box),
        }
    }

    /// Draws like [`render`](Self::render), then draws the overlays in the given order.
    pub fn render_with<'a>(
        &self,
        sprites: impl IntoIterator<Item = &'a Sprite, IntoIter: Clone>,
        overlays: impl IntoIterator<Item = &'a dyn Overlay>,
        frame: &mut Frame,
    ) {
        self.render(sprites, frame);
        for overlay in overlays {
            overlay.draw(frame);
        }
    }

    /// Draws only the window, at scale 1, into the upper left corner. The rest of the frame is left
    /// unchanged.
    pub fn render_view<'a>(
        &self,
        sprites: impl IntoIterator<Item = &'a Sprite, IntoIter: Clone>,
        frame: &mut Frame,
    ) {
        frame.rect(
            0,
            0,
            self.width,
            self.height,
            self.background.cast_unsigned(),
        );
        // Each pass draws one layer and finds the next one. Sorting the sprites instead would
        // allocate, and there are usually few layers.
        let sprites = sprites
            .into_iter()
            .filter(|sprite| sprite.interaction.is_visible());
        let mut next = sprites.clone().map(|sprite| sprite.layer).min();
        while let Some(layer) = next {
            next = None;
            for sprite in sprites.clone().filter(|sprite| sprite.layer >= layer) {
                if sprite.layer == layer {
                    let (x, y) = (
                        i64::from(sprite.x) - i64::from(self.x),
                        i64::from(sprite.y) - i64::from(self.y),
                    );
                    sprite
                        .rendered()
                        .draw_within(frame, x, y, self.width, self.height);
                } else {
                    next =
                        Some(next.map_or(sprite.layer, |nearest: i32| nearest.min(sprite.layer)));
                }
            }
        }
    }

    fn fit(&self) -> Option<Fit> {
        Fit::new(self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arbitrary::sprite;
    use crate::{Interaction, Picture, Rotation};

    fn block(x: i32, y: i32, layer: i32, rows: &[&[i8]]) -> Sprite {
        Sprite::new("block", Picture::from_rows(rows).unwrap())
            .at(x, y)
            .on_layer(layer)
    }

    fn camera(x: i32, y: i32, width: usize, height: usize) -> Camera {
        Camera::new(width, height).unwrap().at(x, y).colored(0, 15)
    }

    /// Expected values from the official engine 0.9.3.
    #[test]
    fn display_cells_map_to_level_cells() {
        let camera = camera(-3, 10, 10, 7);
        for (x, y, cell) in [
            (2, 11, (-3, 10)),
            (7, 16, (-3, 10)),
            (8, 17, (-2, 11)),
            (61, 52, (6, 16)),
        ] {
            assert_eq!(camera.display_to_grid(x, y), Some(cell), "{x} {y}");
        }
        for (x, y) in [
            (0, 0),
            (62, 52),
            (61, 53),
            (1, 11),
            (2, 10),
            (63, 63),
            (-1, 20),
            (100, 20),
        ] {
            assert_eq!(camera.display_to_grid(x, y), None, "{x} {y}");
        }
    }

    /// Expected values from the official engine 0.9.3 for windows of 5 × 4 cells at three
    /// positions.
    #[test]
    fn sprites_are_clipped_and_ordered_by_layer() {
        let mut turned = block(0, 2, 0, &[&[10, 13]]).interacting(Interaction::Intangible);
        turned.set_rotation(Rotation::R90);
        let sprites = [
            block(-1, -1, 2, &[&[1, 2, 3], &[4, -1, 6]]),
            block(3, 2, -1, &[&[8, 8], &[8, 8]]),
            block(2, 1, 0, &[&[9, -2], &[-2, 9]]),
            block(3, 2, 0, &[&[7]]),
            block(3, 2, 0, &[&[11]]).interacting(Interaction::Invisible),
            block(-2, 3, -2, &[&[12; 9]]),
            turned,
        ];
        for (x, y, expected) in [
            (0, 0, ["06000", "00900", "a0078", "dcc88"]),
            (-1, -1, ["12300", "40600", "00090", "0a007"]),
            (2, 1, ["90000", "07800", "c88cc", "00000"]),
        ] {
            let mut frame = Frame::filled(15);
            camera(x, y, 5, 4).render_view(&sprites, &mut frame);
            let found: Vec<String> = frame
                .to_text()
                .lines()
                .take(4)
                .map(|line| line[..5].to_owned())
                .collect();
            assert_eq!(found, expected, "{x} {y}");
        }
    }

    /// Expected values from the official engine 0.9.3 for windows with odd margins.
    #[test]
    fn letter_box_surrounds_the_window() {
        let mut frame = Frame::filled(9);
        camera(0, 0, 31, 2).render(
            &[
                block(0, 0, 0, &[&[1], &[2]]),
                block(30, 0, 0, &[&[3], &[4]]),
            ],
            &mut frame,
        );
        let text = frame.to_text();
        let lines: Vec<&str> = text.lines().collect();
        let (bar, blank) = ("f".repeat(64), "0".repeat(58));
        assert_eq!((lines[29], lines[34]), (bar.as_str(), bar.as_str()));
        assert_eq!(
            lines[30..34],
            ["1133", "1133", "2244", "2244"].map(|ends| format!(
                "f{}{blank}{}f",
                &ends[..2],
                &ends[2..]
            ))
        );

        camera(0, 0, 33, 21).render(
            &[block(0, 0, 0, &[&[1]]), block(32, 20, 0, &[&[3]])],
            &mut frame,
        );
        let text = frame.to_text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[20], lines[42]), (bar.as_str(), bar.as_str()));
        assert_eq!(
            lines[21],
            format!("{}1{}{}", "f".repeat(15), "0".repeat(32), "f".repeat(16))
        );
        assert_eq!(
            lines[41],
            format!("{}{}3{}", "f".repeat(15), "0".repeat(32), "f".repeat(16))
        );
    }

    #[test]
    fn oversized_window_is_rejected_and_empty_window_is_letter_box() {
        assert_eq!(
            Camera::new(65, 1),
            Err(SpriteError::CameraSize {
                width: 65,
                height: 1
            })
        );
        let empty = camera(0, 0, 0, 5);
        assert_eq!((empty.zoom(), empty.display_to_grid(0, 0)), (0, None));
        let mut frame = Frame::filled(3);
        empty.render(&[], &mut frame);
        assert_eq!(frame, Frame::filled(15));
    }

    #[test]
    fn overlays_are_drawn_last_and_in_order() {
        let first = |frame: &mut Frame| frame.clear(1);
        let second = |frame: &mut Frame| frame.set(0, 0, 2);
        let mut frame = Frame::filled(9);
        camera(0, 0, 8, 8).render_with(
            &[block(0, 0, 99, &[&[7]])],
            [&first as &dyn Overlay, &second],
            &mut frame,
        );
        assert_eq!((frame.get(0, 0), frame.get(1, 0)), (2, 1));
    }

    proptest! {
        #[test]
        fn grid_to_display_round_trips(
            width in 1_usize..=64, height in 1_usize..=64, x in -50..50, y in -50..50,
            column in 0_usize..64, row in 0_usize..64, right in 0_usize..64, down in 0_usize..64,
        ) {
            let camera = camera(x, y, width, height);
            let cell = (x + (column % width) as i32, y + (row % height) as i32);
            let (left, top) = camera.grid_to_display(cell.0, cell.1).unwrap();
            let place = (usize::from(left) + right % camera.zoom(), usize::from(top) + down % camera.zoom());
            prop_assert_eq!(camera.display_to_grid(place.0 as i32, place.1 as i32), Some(cell));
        }

        #[test]
        fn grid_to_display_is_none_outside_the_window(
            width in 1_usize..=64, height in 1_usize..=64, x in -50..50, y in -50..50, column in -80..80, row in -80..80,
        ) {
            let inside = (x..x + width as i32).contains(&column) && (y..y + height as i32).contains(&row);
            prop_assert_eq!(camera(x, y, width, height).grid_to_display(column, row).is_some(), inside);
        }

        #[test]
        fn every_display_cell_shows_its_level_cell(
            sprites in prop::collection::vec(sprite(), 0..6), width in 1_usize..=64, height in 1_usize..=64,
            x in -9..9, y in -9..9,
        ) {
            let camera = camera(x, y, width, height);
            let (mut frame, mut view) = (Frame::filled(14), Frame::filled(13));
            camera.render(&sprites, &mut frame);
            camera.render_view(&sprites, &mut view);
            for row in 0..SIZE {
                for column in 0..SIZE {
                    let shown = camera
                        .display_to_grid(column as i32, row as i32)
                        .map_or(15, |cell| view.get((cell.0 - x) as usize, (cell.1 - y) as usize));
                    prop_assert_eq!(frame.get(column, row), shown);
                }
            }
        }

        #[test]
        fn order_of_sprites_in_different_layers_is_irrelevant(
            mut sprites in prop::collection::vec(sprite(), 0..8), seed in any::<u64>(),
        ) {
            for (layer, sprite) in (-4..).zip(&mut sprites) {
                sprite.layer = layer;
            }
            let camera = camera(0, 0, 30, 30);
            let (mut sorted, mut shuffled) = (Frame::filled(0), Frame::filled(1));
            camera.render(&sprites, &mut sorted);
            crate::Rng::new(seed, 0).shuffle(&mut sprites);
            camera.render(&sprites, &mut shuffled);
            prop_assert_eq!(sorted, shuffled);
        }

        #[test]
        fn last_sprite_within_a_layer_covers_the_others(sprites in prop::collection::vec(sprite(), 0..12)) {
            let camera = camera(0, 0, 64, 64);
            let mut frame = Frame::filled(1);
            camera.render(&sprites, &mut frame);
            let mut expected = Frame::filled(0);
            let mut sorted: Vec<&Sprite> = sprites.iter().filter(|sprite| sprite.interaction.is_visible()).collect();
            sorted.sort_by_key(|sprite| sprite.layer);
            for sprite in sorted {
                sprite.rendered().draw(&mut expected, sprite.x, sprite.y);
            }
            prop_assert_eq!(frame, expected);
        }

        #[test]
        fn moving_camera_and_sprites_together_changes_nothing(mut sprites in prop::collection::vec(sprite(), 0..5), dx in -90..90, dy in -90..90) {
            let mut camera = camera(0, 0, 16, 12);
            let (mut before, mut after) = (Frame::filled(0), Frame::filled(1));
            camera.render(&sprites, &mut before);
            camera.move_by(dx, dy);
            sprites.iter_mut().for_each(|sprite| sprite.move_by(dx, dy));
            camera.render(&sprites, &mut after);
            prop_assert_eq!(before, after);
        }
    }
}
