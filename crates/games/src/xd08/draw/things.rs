//! What the rules know about a frame: slabs, free wanted places, tables, marks of balance and lives.

use rhae_engine::{Action, StateOf};
use rhae_percept::Bounds;

use super::{
    LAYER, LEFT, LIFE_PITCH, LIVES_LEFT, LIVES_TOP, TABLE_HEIGHT, TABLE_TOP, UNIT, layer_top,
};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block, groups};
use crate::xd08::tower::Joint;
use crate::xd08::{Level, Xd08};

impl Annotated for Xd08 {
    /// A unit is less wide than a layer is high.
    fn grid(_level: &Level) -> Option<CellGrid> {
        None
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let places = &state.board.places;
        let mut found = Vec::new();
        for (layer, slab) in level.tower.slabs.iter().enumerate() {
            found.push(Thing::new("slab", slab_area(level, layer, places[layer])));
            if places[layer].abs_diff(level.wanted[layer]) >= slab.length {
                let wanted = slab_area(level, layer, level.wanted[layer]);
                // The last row of a wanted place has the colour of the air.
                let bottom = wanted.bottom - 1;
                found.push(Thing::new("wanted place", Bounds { bottom, ..wanted }));
            }
            if slab.joint != Joint::Glued {
                let balance = level.tower.balance(places, layer);
                let along = UNIT * balance.moment as usize / (2 * balance.weight as usize);
                let mark = block(LEFT + along - 1, layer_top(layer) + LAYER, 2, 2);
                found.push(Thing::new("balance", mark));
            }
        }
        let tables = level.tower.tables.iter().enumerate();
        let units = tables
            .filter(|(_, table)| **table)
            .map(|(unit, _)| (unit, 0));
        found.extend(groups(units, false).into_iter().map(|group| {
            let units = group
                .iter()
                .map(|&(unit, _)| block(LEFT + unit * UNIT, TABLE_TOP, UNIT, TABLE_HEIGHT));
            let area = units.reduce(Bounds::joined);
            Thing::new("table", area.expect("a group has at least one unit"))
        }));
        found.extend((0..usize::from(state.spent)).map(|life| {
            let left = LIVES_LEFT + life * LIFE_PITCH;
            Thing::new("life", block(left, LIVES_TOP, 4, 4))
        }));
        found
    }

    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        if before.spent != after.spent {
            return Vec::new();
        }
        let moved = (0..level.tower.slabs.len()).filter_map(|layer| {
            let [from, to] = [before, after].map(|state| {
                let area = slab_area(level, layer, state.board.places[layer]);
                (area, (usize::from(area.left), usize::from(area.top)))
            });
            Movement::between(from.0, from.1, to.1)
        });
        moved.collect()
    }
}

fn slab_area(level: &Level, layer: usize, place: u8) -> Bounds {
    let width = usize::from(level.tower.slabs[layer].length) * UNIT;
    block(
        LEFT + usize::from(place) * UNIT,
        layer_top(layer),
        width,
        LAYER,
    )
}
