//! `rhae games`: list, info, new, novelty and sheet.

use std::fs;
use std::path::Path;

use crate::rhae::rhae;

#[test]
fn json_list_is_complete() {
    let list = rhae(Path::new("."), &["games", "list", "--json"])
        .succeeded()
        .json();
    let games = list.as_array().unwrap();
    assert_eq!(games.len(), rhae_games::ALL.len());
    for game in games {
        let levels = usize::try_from(game["levels"].as_u64().unwrap()).unwrap();
        assert!(levels >= 6, "{game}");
        assert_eq!(game["baseline_actions"].as_array().unwrap().len(), levels);
        assert_eq!(game["baseline_source"].as_array().unwrap().len(), levels);
        assert!(
            !game["actions"].as_array().unwrap().is_empty()
                && !game["tags"].as_array().unwrap().is_empty()
        );
        assert!(game["game_id"].is_string());
    }
}

#[test]
fn unknown_game_suggests_the_nearest_id() {
    rhae(Path::new("."), &["games", "info", "kq91"]).failed_with("the nearest is `kq19-v1`");
    rhae(Path::new("."), &["play", "hk62"]).failed_with("hk26");
    let shown = rhae(Path::new("."), &["games", "info", "kq19"]).succeeded();
    assert!(shown.out.contains("solver"), "{}", shown.out);
}

#[test]
fn skeleton_needs_a_checkout_and_a_valid_new_id() {
    let folder = tempfile::tempdir().unwrap();
    rhae(folder.path(), &["games", "new", "ab12"]).failed_with("not a checkout of Rhae");
    rhae(folder.path(), &["games", "new", "AB12"]).failed_with("`AB12` is not a valid id");
    rhae(folder.path(), &["games", "new", "kq19"]).failed_with("already exists");
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        0,
        "the folder must stay empty"
    );
}

#[test]
fn novelty_compares_rules_frames_and_graphs() {
    let folder = tempfile::tempdir().unwrap();
    let found = rhae(
        folder.path(),
        &[
            "games", "novelty", "kq19", "ny40", "hk26", "--html", "map.html", "--json",
        ],
    )
    .succeeded()
    .json();
    let pairs = found["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 3);
    for pair in pairs {
        for number in ["rules", "frames", "graphs"] {
            assert!(
                (0.0..=1.0).contains(&pair[number].as_f64().unwrap()),
                "{pair}"
            );
        }
        assert_eq!(pair["warning"], false);
    }
    assert!(
        fs::read_to_string(folder.path().join("map.html"))
            .unwrap()
            .contains("hk26")
    );
    let table = rhae(
        folder.path(),
        &["games", "novelty", "kq19", "ny40", "--html", "map.html"],
    )
    .succeeded()
    .out;
    assert!(table.contains("wrote map.html"), "{table}");
    rhae(folder.path(), &["games", "novelty", "kq19", "kq19-v1"])
        .failed_with("`kq19-v1` is named twice");
    rhae(folder.path(), &["games", "novelty", "kq19"]).failed_with("at least two environments");
}

#[test]
fn sheet_has_a_row_for_each_environment_and_a_column_for_each_level() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "games", "sheet", "kq19", "seeded", "--zoom", "1", "--out", "s.png",
    ];
    let shown = rhae(folder.path(), &arguments).succeeded();
    let count = 1 + rhae_games::named_sets()["seeded"].len() as u32;
    let expected = format!("{} levels of {count} environments in `s.png`", 8 * count);
    assert!(shown.out.contains(&expected), "{}", shown.out);
    let png = fs::read(folder.path().join("s.png")).unwrap();
    // The header of a PNG contains its width and height. Gaps of two cells surround each frame.
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (8 * 66 + 2, count * 66 + 2));
    rhae(folder.path(), &["games", "sheet", "zz99"]).failed_with("there is no environment `zz99`");
}
