//! The tests of single rules build small houses. The other tests check that levels cannot be won
//! without the rules that they teach.

use std::convert::Infallible;

use rhae_engine::{
    Action, ActionKind, ActionSet, Frame, FrameBuffer, Game, LevelIndex, NoFrames, Outcome,
    StateKey, StateOf, key_of,
};
use rhae_explore::{Explorable, shortest_win};

use super::minds::{
    Board, House, MAX_CREATURES, NOWHERE, Opening, Pull, Room, Walk, Way, look, walk,
};
use super::{Gr45, Level, levels};

/// Three rooms in a row: 0, 1 and 2.
fn row(first: Opening, second: Opening) -> House {
    let ways = [((0, 1), first), ((1, 2), second)];
    let ways = ways.map(|(rooms, opening)| Way { rooms, opening });
    let mut house = House::new(3, 1, ways.to_vec());
    house.count = 1;
    house
}

fn board(fruit: Room, room: Room, belief: Room) -> Board {
    Board {
        fruit,
        rooms: [room, NOWHERE, NOWHERE],
        beliefs: [belief, NOWHERE, NOWHERE],
        pulled: 0,
        eater: NOWHERE,
    }
}

/// Returns what a creature believes after it has looked around.
fn belief_after(house: &House, mut board: Board) -> Room {
    look(house, &mut board);
    board.beliefs[0]
}

fn sent(house: &House, mut board: Board) -> (Walk, Room, Room) {
    let end = walk(house, &mut board, 0, |_, _| {});
    (end, board.rooms[0], board.beliefs[0])
}

const OPEN: Pull = Pull::new(0, true);
const CLOSED: Pull = Pull::new(0, false);

#[test]
fn creature_sees_its_room_and_the_rooms_next_to_it() {
    let house = row(Opening::Doorway, Opening::Doorway);
    assert_eq!(belief_after(&house, board(1, 1, NOWHERE)), 1);
    assert_eq!(belief_after(&house, board(1, 0, NOWHERE)), 1);
    assert_eq!(belief_after(&house, board(2, 0, NOWHERE)), NOWHERE);
}

#[test]
fn only_clear_openings_let_a_creature_see() {
    for (opening, is_clear) in [
        (Opening::Doorway, true),
        (Opening::Drape, false),
        (Opening::Curtain(OPEN), true),
        (Opening::Curtain(CLOSED), false),
        (Opening::Window(OPEN), true),
        (Opening::Window(CLOSED), false),
    ] {
        let house = row(opening, Opening::Drape);
        let expected = if is_clear { 1 } else { NOWHERE };
        assert_eq!(
            belief_after(&house, board(1, 0, NOWHERE)),
            expected,
            "{opening:?}"
        );
        // A creature that sees the empty bowl stops believing in it.
        let expected = if is_clear { NOWHERE } else { 1 };
        assert_eq!(
            belief_after(&house, board(2, 0, 1)),
            expected,
            "{opening:?}"
        );
    }
}

#[test]
fn pulled_cord_opens_and_closes() {
    let house = row(Opening::Curtain(CLOSED), Opening::Drape);
    let pulled = Board {
        pulled: 1,
        ..board(1, 0, NOWHERE)
    };
    assert_eq!(belief_after(&house, pulled), 1);
}

#[test]
fn closed_lid_hides_a_bowl_from_its_own_room() {
    let mut house = row(Opening::Doorway, Opening::Doorway);
    house.lids[1] = Some(CLOSED);
    assert_eq!(belief_after(&house, board(1, 1, NOWHERE)), NOWHERE);
    assert_eq!(belief_after(&house, board(0, 1, 1)), 0);
    assert_eq!(belief_after(&house, board(2, 0, 1)), 1);
}

#[test]
fn creature_walks_to_where_it_believes_the_fruit_is() {
    let house = row(Opening::Drape, Opening::Drape);
    assert_eq!(
        sent(&house, board(1, 0, NOWHERE)),
        (Walk::Refused, 0, NOWHERE)
    );
    assert_eq!(
        sent(&house, board(1, 0, 2)),
        (Walk::Ate, 1, 1),
        "it sees the fruit on the way"
    );
    assert_eq!(sent(&house, board(0, 1, 2)), (Walk::Stopped, 2, NOWHERE));
    assert_eq!(sent(&house, board(2, 0, 2)).0, Walk::Ate);
}

#[test]
fn walk_ends_where_the_creature_sees_that_the_bowl_is_empty() {
    let house = row(Opening::Drape, Opening::Doorway);
    // From room 1 the creature sees that the bowl of room 2 is empty.
    assert_eq!(sent(&house, board(0, 0, 2)), (Walk::Stopped, 1, NOWHERE));
}

#[test]
fn windows_cannot_be_passed() {
    let house = row(Opening::Window(OPEN), Opening::Drape);
    assert_eq!(sent(&house, board(1, 0, 1)), (Walk::Refused, 0, 1));
}

#[test]
fn creature_checks_under_the_lid_in_the_room_of_its_belief() {
    let mut house = row(Opening::Drape, Opening::Drape);
    house.lids[1] = Some(CLOSED);
    assert_eq!(sent(&house, board(0, 1, 1)), (Walk::Stopped, 1, NOWHERE));
    assert_eq!(sent(&house, board(1, 1, 1)).0, Walk::Ate);
}

#[test]
fn creature_without_a_belief_is_told_by_another_one_in_its_room() {
    let mut house = row(Opening::Drape, Opening::Drape);
    house.count = 2;
    let both = Board {
        rooms: [1, 1, NOWHERE],
        beliefs: [NOWHERE, 2, NOWHERE],
        ..board(0, 1, NOWHERE)
    };
    assert_eq!(belief_after(&house, both), 2);
    house.tells = false;
    assert_eq!(belief_after(&house, both), NOWHERE);
}

#[test]
fn creature_that_is_told_of_a_room_it_has_given_up_stops() {
    let mut house = row(Opening::Drape, Opening::Drape);
    house.count = 2;
    house.lids[1] = Some(CLOSED);
    let both = Board {
        rooms: [1, 1, NOWHERE],
        beliefs: [1, 1, NOWHERE],
        ..board(0, 1, NOWHERE)
    };
    assert_eq!(sent(&house, both), (Walk::Stopped, 1, 1));
}

#[test]
fn eaten_fruit_stops_the_level_until_undo() {
    let level = level(1);
    let mut state = Gr45::start(&level);
    let creature = Gr45::clicks(&level, &state).next().unwrap();
    let click = Action::click(creature.0, creature.1).unwrap();
    let outcome = Gr45::step(&level, &mut state, click, &mut NoFrames);
    assert_eq!(outcome, Outcome::Continue);
    assert!(state.board.is_eaten());
    let eaten = state.clone();
    let targets: Vec<_> = Gr45::clicks(&level, &state).collect();
    assert_eq!(
        targets.len(),
        Gr45::clicks(&level, &Gr45::start(&level)).count()
    );
    for (x, y) in targets {
        let click = Action::click(x, y).unwrap();
        Gr45::step(&level, &mut state, click, &mut NoFrames);
    }
    assert_eq!(state, eaten);
}

#[test]
fn click_on_the_fruit_shows_where_it_can_move() {
    let level = level(1);
    let mut state = Gr45::start(&level);
    let start = state.clone();
    let mut frames = FrameBuffer::default();
    let fruit = Action::click(12, 32).unwrap();
    Gr45::step(&level, &mut state, fruit, &mut frames);
    assert_eq!(state, start);
    // The corners of the two bowls: red for the refusal, white for the other end of the tube.
    let blink = |frame: &Frame| (frame.get(9, 29), frame.get(49, 29));
    assert!(frames.frames().iter().any(|frame| blink(frame) == (8, 0)));
}

/// A level in which all creatures know where the fruit is, if `all_knowing` is set.
struct Variant {
    level: Level,
    all_knowing: bool,
}

impl Variant {
    fn inform(&self, board: &mut Board) {
        if self.all_knowing {
            board.beliefs[..self.level.house.count].fill(board.fruit);
        }
    }
}

impl Explorable for Variant {
    type State = StateOf<Gr45>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        let mut state = Gr45::start(&self.level);
        self.inform(&mut state.board);
        state
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        ActionSet::of(&[ActionKind::Action6])
    }

    fn clicks(&self, state: &Self::State, actions: &mut Vec<Action>) {
        actions.extend(Gr45::clicks(&self.level, state).filter_map(|(x, y)| Action::click(x, y)));
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        let outcome = Gr45::step(&self.level, state, action, &mut NoFrames);
        self.inform(&mut state.board);
        Ok(outcome)
    }

    fn key(&self, state: &Self::State) -> StateKey {
        key_of(state)
    }
}

fn assert_impossible(number: u8, level: Level, all_knowing: bool) {
    let search = shortest_win(&Variant { level, all_knowing }, 1_000_000);
    assert!(
        search.complete && search.win.is_none(),
        "level {number} does not need the rule that it teaches"
    );
}

fn level(number: u8) -> Level {
    levels::level(LevelIndex(number - 1))
}

#[test]
fn levels_need_the_rules_that_they_teach() {
    for number in 1..=8 {
        assert_impossible(number, level(number), true);
    }
    for number in [5, 7, 8] {
        let mut silent = level(number);
        silent.house.tells = false;
        assert_impossible(number, silent, false);
    }
    for number in [4, 7, 8] {
        let mut uncovered = level(number);
        uncovered.house.lids = [None; super::minds::MAX_ROOMS];
        assert_impossible(number, uncovered, false);
    }
    for number in [3, 5, 7, 8] {
        let mut walled = level(number);
        walled
            .house
            .ways
            .retain(|way| !matches!(way.opening, Opening::Window(_)));
        // Creatures do not start with what they would have seen through a window.
        walled.start.beliefs = [NOWHERE; MAX_CREATURES];
        look(&walled.house, &mut walled.start);
        assert_impossible(number, walled, false);
    }
}

#[test]
fn no_level_has_more_creatures_or_tubes_than_can_be_drawn() {
    for number in 1..=8 {
        let level = level(number);
        assert!(level.house.count <= MAX_CREATURES && level.house.tubes.len() <= 4);
    }
}
