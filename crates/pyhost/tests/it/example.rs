//! The game in `examples/` that implements the protocol itself.

use rhae_engine::{Action, Catalog, PlayState};
use rhae_pyhost::Limits;

use crate::{games, open, root};

#[test]
fn example_can_be_played_forked_and_restored() {
    let Some(games) = games(&root().join("examples/protocol-game"), Limits::default()) else {
        return;
    };
    assert_eq!(
        games.source("nm33-v1").unwrap(),
        None,
        "a program has no Python source to download"
    );
    let mut play = open(&games, "nm33");
    let step = |times: usize, play: &mut dyn rhae_engine::Environment| {
        (0..times).for_each(|_| drop(play.act(Action::Action1).unwrap().clone()));
    };
    step(2, play.as_mut());
    let snapshot = play.snapshot().unwrap().unwrap();
    let mut fork = play.fork().unwrap();
    play.act(Action::Action2).unwrap();
    assert_eq!(
        fork.act(Action::Action1).unwrap().levels_completed,
        1,
        "a fork is independent"
    );
    assert_eq!(play.observation().levels_completed, 0);
    play.restore(&snapshot).unwrap();
    assert_eq!(play.act(Action::Action1).unwrap().frames.frames().len(), 2);
    step(5, play.as_mut());
    assert_eq!(play.observation().state, PlayState::Win);
    assert!(play.act(Action::Reset).unwrap().full_reset);
    let mut other = games.open("nm33", 5).unwrap();
    other.restore(&snapshot).unwrap();
    step(1, other.as_mut());
    assert_eq!(other.observation().levels_completed, 1);
}

#[test]
fn documentation_shows_the_example_and_it_is_short() {
    let game =
        std::fs::read_to_string(root().join("examples/protocol-game/nm33/v1/game.py")).unwrap();
    let page = std::fs::read_to_string(root().join("docs/hosting.md")).unwrap();
    assert!(
        page.contains(&format!("```python\n{game}```\n")),
        "docs/hosting.md must show this game"
    );
    assert!(game.lines().count() <= 50, "the example must stay short");
}
