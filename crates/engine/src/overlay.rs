//! Overlays: counters, lives and hints that are drawn onto the finished frame.
//!
//! **Invariant:** an overlay uses display coordinates only; the position and zoom of the camera do
//! not affect it.

use crate::{Frame, Interaction, Sprite, SpriteError};

/// A drawing on top of the finished frame.
///
/// Every `Fn(&mut Frame)` is an overlay. To draw a sprite in an overlay regardless of its modes,
/// draw its [`rendered`](Sprite::rendered) picture.
pub trait Overlay {
    fn draw(&self, frame: &mut Frame);
}

impl<F: Fn(&mut Frame)> Overlay for F {
    fn draw(&self, frame: &mut Frame) {
        self(frame);
    }
}

/// Pairs of sprites. The first sprite of a pair is shown while the pair is on, the second while the
/// pair is off.
///
/// A pair is on unless its first sprite is removed. A new pair keeps the modes of its sprites, so
/// both may be shown until the pair is switched for the first time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Toggles {
    pairs: Vec<Pair>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pair {
    on: Sprite,
    off: Sprite,
}

impl Pair {
    const fn switch(&mut self, on: bool) {
        let (shown, hidden) = if on {
            (&mut self.on, &mut self.off)
        } else {
            (&mut self.off, &mut self.on)
        };
        shown.interaction = Interaction::Intangible;
        hidden.interaction = Interaction::Removed;
    }
}

impl Toggles {
    /// Creates an overlay from pairs of an "on" sprite and an "off" sprite.
    pub fn new(pairs: impl IntoIterator<Item = (Sprite, Sprite)>) -> Self {
        Self {
            pairs: pairs
                .into_iter()
                .map(|(on, off)| Pair { on, off })
                .collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Iterates over all pairs as (on sprite, off sprite).
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&Sprite, &Sprite)> {
        self.pairs.iter().map(|pair| (&pair.on, &pair.off))
    }

    /// Returns whether a pair is on.
    ///
    /// # Errors
    ///
    /// Returns [`SpriteError::NoPair`] if there is no pair with this index.
    pub fn is_enabled(&self, index: usize) -> Result<bool, SpriteError> {
        let pair = self.pairs.get(index).ok_or(SpriteError::NoPair {
            index,
            count: self.pairs.len(),
        })?;
        Ok(pair.on.interaction != Interaction::Removed)
    }

    /// Switches a pair on.
    ///
    /// # Errors
    ///
    /// Returns [`SpriteError::NoPair`] if there is no pair with this index.
    pub fn enable(&mut self, index: usize) -> Result<(), SpriteError> {
        self.switch(index, true)
    }

    /// Switches a pair off.
    ///
    /// # Errors
    ///
    /// Returns [`SpriteError::NoPair`] if there is no pair with this index.
    pub fn disable(&mut self, index: usize) -> Result<(), SpriteError> {
        self.switch(index, false)
    }

    /// Switches on every pair whose on sprite has the tag.
    pub fn enable_all(&mut self, tag: &str) {
        self.tagged(tag).for_each(|pair| pair.switch(true));
    }

    /// Switches off every pair whose on sprite has the tag.
    pub fn disable_all(&mut self, tag: &str) {
        self.tagged(tag).for_each(|pair| pair.switch(false));
    }

    /// Switches on the first pair whose on sprite has the tag and is removed. Returns whether there
    /// was one.
    pub fn enable_first(&mut self, tag: &str) -> bool {
        self.switch_first(tag, Interaction::Removed, true)
    }

    /// Switches off the first pair whose on sprite has the tag and is intangible. Returns whether
    /// there was one.
    ///
    /// A pair that was never switched is usually skipped: sprites are tangible by default, and only
    /// switching a pair makes its visible sprite intangible.
    pub fn disable_first(&mut self, tag: &str) -> bool {
        self.switch_first(tag, Interaction::Intangible, false)
    }

    fn switch(&mut self, index: usize, on: bool) -> Result<(), SpriteError> {
        let count = self.pairs.len();
        self.pairs
            .get_mut(index)
            .ok_or(SpriteError::NoPair { index, count })?
            .switch(on);
        Ok(())
    }

    fn switch_first(&mut self, tag: &str, from: Interaction, on: bool) -> bool {
        let found = self.tagged(tag).find(|pair| pair.on.interaction == from);
        found.map(|pair| pair.switch(on)).is_some()
    }

    fn tagged(&mut self, tag: &str) -> impl Iterator<Item = &mut Pair> {
        self.pairs
            .iter_mut()
            .filter(move |pair| pair.on.has_tag(tag))
    }
}

/// Draws all sprites except removed ones, in the order of the pairs. Layers are ignored.
impl Overlay for Toggles {
    fn draw(&self, frame: &mut Frame) {
        for sprite in self.pairs.iter().flat_map(|pair| [&pair.on, &pair.off]) {
            if sprite.interaction != Interaction::Removed {
                sprite.rendered().draw(frame, sprite.x, sprite.y);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Picture;

    fn lamps() -> Toggles {
        let lamp = |x: i32, color: i8| {
            Sprite::new("lamp", Picture::from_rows(&[[color]]).unwrap()).at(x, 63)
        };
        Toggles::new((61..64).map(|x| (lamp(x, 1).tagged("lamp"), lamp(x, 2))))
    }

    fn shown(lamps: &Toggles) -> [u8; 3] {
        let mut frame = Frame::filled(0);
        lamps.draw(&mut frame);
        [61, 62, 63].map(|x| frame.get(x, 63))
    }

    /// Expected values from the official engine 0.9.3.
    #[test]
    fn pairs_are_switched_by_index_and_by_tag() {
        let mut lamps = lamps();
        assert_eq!(shown(&lamps), [2, 2, 2]);
        assert!(
            !lamps.disable_first("lamp") && !lamps.enable_first("lamp"),
            "a pair that was never switched is skipped"
        );
        assert_eq!(
            [0, 1, 2].map(|index| lamps.is_enabled(index)),
            [Ok(true); 3]
        );

        lamps.disable(1).unwrap();
        assert_eq!(lamps.is_enabled(1), Ok(false));
        assert!(!lamps.disable_first("lamp"));
        assert!(lamps.enable_first("lamp"));
        assert_eq!(shown(&lamps), [2, 1, 2]);
        assert!(lamps.disable_first("lamp"));
        assert_eq!(shown(&lamps), [2, 2, 2]);

        lamps.enable_all("lamp");
        assert_eq!(shown(&lamps), [1, 1, 1]);
        lamps.disable_all("other");
        assert_eq!(shown(&lamps), [1, 1, 1]);
        lamps.disable_all("lamp");
        assert_eq!(
            [0, 1, 2].map(|index| lamps.is_enabled(index)),
            [Ok(false); 3]
        );
    }

    #[test]
    fn missing_pair_is_an_error() {
        let mut lamps = lamps();
        let error = SpriteError::NoPair { index: 3, count: 3 };
        assert_eq!(lamps.enable(3), Err(error));
        assert_eq!(lamps.disable(3), Err(error));
        assert_eq!(lamps.is_enabled(3), Err(error));
        assert_eq!(error.to_string(), "there is no pair `3` among `3`");
    }

    /// Expected values from the official engine 0.9.3, which omits only removed sprites.
    #[test]
    fn invisible_sprites_are_drawn_and_layers_are_ignored() {
        let dot =
            |color: i8| Sprite::new("dot", Picture::from_rows(&[[color]]).unwrap()).at(61, 63);
        let pair = (
            dot(3).on_layer(9),
            dot(4).interacting(Interaction::Invisible),
        );
        assert_eq!(shown(&Toggles::new([pair]))[0], 4);
    }
}
