//! Tests that the registry, the sources, the documentation pages and the playthroughs contain the
//! same games.

use std::collections::BTreeSet;
use std::path::Path;

use rhae_engine::Game;
use rhae_games::Visitor;

fn names_in(folder: &str, ending: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter_map(|name| name.strip_suffix(ending).map(str::to_owned))
        .filter(|name| name.len() == 4)
        .collect()
}

#[test]
fn registry_sources_pages_and_playthroughs_agree() {
    let registered: BTreeSet<String> = rhae_games::ALL
        .iter()
        .map(|entry| entry.id().base().to_owned())
        .collect();
    assert_eq!(names_in("src", ".rs"), registered, "sources");
    assert_eq!(
        names_in("../../docs/games", ".md"),
        registered,
        "pages in docs/games"
    );
    let index = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/games/README.md"),
    )
    .unwrap();
    assert!(
        registered
            .iter()
            .all(|id| index.contains(&format!("[{id}]({id}.md)"))),
        "rows in docs/games/README.md"
    );
    assert_eq!(
        names_in("tests/it/playthroughs", ".txt"),
        registered,
        "golden playthroughs"
    );
}

/// Every source file of a game other than levels, drawing and tests contains rules and must be part
/// of the comparison with other games.
#[test]
fn rule_sources_are_complete() {
    for entry in rhae_games::ALL {
        let sources = rhae_games::rule_sources(entry.facts.id);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src")
            .join(entry.id().base());
        let files = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .map(|file| file.unwrap().path());
        for file in files.filter(|file| file.extension().is_some_and(|ending| ending == "rs")) {
            let name = file.file_name().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&file).unwrap();
            let is_rules = !["draw.rs", "levels.rs", "tests.rs"].contains(&name);
            assert_eq!(
                sources.contains(&&*text),
                is_rules,
                "{} in crates/games/src/sources.rs",
                file.display()
            );
        }
        assert!(sources[0].contains(entry.facts.id), "{}", entry.facts.id);
    }
}

#[test]
fn ids_are_well_formed_and_unique() {
    let ids: BTreeSet<&str> = rhae_games::ALL.iter().map(|entry| entry.facts.id).collect();
    assert_eq!(ids.len(), rhae_games::ALL.len());
    for id in ids {
        assert!(id.parse::<rhae_engine::GameId>().is_ok(), "{id}");
    }
}

#[test]
fn unknown_name_suggests_the_nearest_id() {
    let first = rhae_games::ALL[0].facts.id;
    assert_eq!(rhae_games::find(first).unwrap().facts.id, first);
    assert_eq!(rhae_games::find(&first[..4]).unwrap().facts.id, first);
    let misspelt = format!("{}x", &first[..3]);
    assert_eq!(
        rhae_games::find(&misspelt)
            .err()
            .unwrap()
            .nearest
            .as_deref(),
        Some(first)
    );
    assert_eq!(rhae_games::find("something").err().unwrap().nearest, None);
    assert_eq!(
        rhae_games::find(&first.to_ascii_uppercase())
            .unwrap()
            .facts
            .id,
        first
    );
}

struct Playthrough;

impl Visitor for Playthrough {
    type Output = String;

    fn visit<G: Game>(self) -> String {
        rhae_testkit::playthrough::<G>()
    }
}

#[test]
fn golden_playthroughs_hold() {
    for entry in rhae_games::ALL {
        let base = entry.id().base().to_owned();
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/playthroughs/{base}.txt"));
        let golden = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let found = rhae_games::visit(entry.facts.id, Playthrough).expect("the registry lists it");
        let difference = golden
            .lines()
            .zip(found.lines())
            .position(|(old, new)| old != new);
        assert!(
            golden == found,
            "{base}: the game differs from line {} of its golden playthrough. If this version is not published yet, run \
             `cargo xtask game {base} golden` and review the diff; a published game needs a new version",
            difference.map_or(golden.lines().count().min(found.lines().count()), |line| {
                line
            }) + 1
        );
    }
}
