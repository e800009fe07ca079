//! The rules of a call, one creature after the other. They are the reference for `herd`, which
//! computes the same result with sets of creatures in two numbers.

use super::{Cell, Cells, Creature, Gaze, Kind, is_land};

/// A land with its creatures.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) rocks: Cells<bool>,
    pub(super) water: Cells<bool>,
    pub(super) kinds: Vec<Kind>,
    pub(super) creatures: Vec<Creature>,
}

impl Scene {
    /// Returns the creatures after a call of the creature in a cell.
    pub(super) fn after_call(&self, cell: Cell) -> Vec<Creature> {
        let mut after = self.creatures.clone();
        let Some(called) = self.creature_at(cell) else {
            return after;
        };
        let viewers =
            (0..self.creatures.len()).filter(|&viewer| self.seen_by(viewer) == Some(called));
        for viewer in viewers {
            after[viewer] = self.response(viewer, called);
        }
        if self.kinds[called] == Kind::Restless {
            after[called].gaze = self.creatures[called].gaze.turned();
        }
        self.wake(&mut after);
        after
    }

    fn creature_at(&self, cell: Cell) -> Option<usize> {
        self.creatures
            .iter()
            .position(|creature| creature.cell == cell)
    }

    /// Returns the creature that a creature sees: the first one in the direction of its gaze, unless
    /// a rock or the border comes before it.
    fn seen_by(&self, viewer: usize) -> Option<usize> {
        let Creature { cell, gaze } = self.creatures[viewer];
        if gaze == Gaze::Asleep {
            return None;
        }
        (1..)
            .map(|steps| gaze.from(cell, steps))
            .take_while(|&next| is_land(next) && !self.rocks[usize::from(next)])
            .find_map(|next| self.creature_at(next))
    }

    /// Returns a creature after it has responded to the called creature that it sees.
    fn response(&self, viewer: usize, called: usize) -> Creature {
        let Creature { cell, gaze } = self.creatures[viewer];
        if self.kinds[viewer] == Kind::Shy {
            let away = gaze.turned().turned();
            return Creature {
                cell: self.end_of_walk(cell, away),
                gaze,
            };
        }
        let adopted = self.creatures[called].gaze;
        Creature {
            cell: self.end_of_walk(cell, gaze),
            gaze: if adopted == Gaze::Asleep {
                gaze
            } else {
                adopted
            },
        }
    }

    /// Returns the last free cell in a direction. Rocks, water, creatures and the border end a walk.
    fn end_of_walk(&self, from: Cell, heading: Gaze) -> Cell {
        let is_free = |&cell: &Cell| {
            is_land(cell)
                && !self.rocks[usize::from(cell)]
                && !self.water[usize::from(cell)]
                && self.creature_at(cell).is_none()
        };
        (1..)
            .map(|steps| heading.from(from, steps))
            .take_while(is_free)
            .last()
            .unwrap_or(from)
    }

    /// Wakes the sleepers next to which a creature has arrived. They look at it.
    fn wake(&self, after: &mut [Creature]) {
        for sleeper in 0..after.len() {
            let arrived_from = |side: &Gaze| {
                let next = side.from(after[sleeper].cell, 1);
                let arrived = |index: &usize| {
                    after[*index].cell == next && self.creatures[*index].cell != next
                };
                (0..after.len()).any(|index| arrived(&index))
            };
            if after[sleeper].gaze == Gaze::Asleep
                && let Some(side) = Gaze::DIRECTIONS.into_iter().find(arrived_from)
            {
                after[sleeper].gaze = side;
            }
        }
    }
}
