use rhae_engine::Game;
use rhae_games::Visitor;

struct Conforms;

impl Visitor for Conforms {
    type Output = ();

    fn visit<G: Game>(self) {
        rhae_testkit::conforms::<G>();
    }
}

#[test]
fn every_game_passes_the_conformance_suite() {
    for entry in rhae_games::ALL {
        rhae_games::visit(entry.facts.id, Conforms).expect("the registry lists it");
    }
}
