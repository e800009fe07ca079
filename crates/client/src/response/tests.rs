use proptest::prelude::*;
use rhae_protocol::frames_to_wire;
use serde_json::json;

use super::*;

fn response() -> Value {
    json!({
        "game_id": "ab12-v1", "guid": "9f0c", "state": "NOT_FINISHED", "levels_completed": 1, "win_levels": 3, "full_reset": null,
        "available_actions": [0, 1, 6], "frame": frames_to_wire(&[Frame::filled(255), Frame::filled(15)]), "action_input": {"id": 1}
    })
}

fn parse(response: &Value) -> Result<FrameResponse, String> {
    FrameResponse::parse(response.to_string().as_bytes())
}

#[test]
fn valid_response_is_parsed() {
    let parsed = parse(&response()).unwrap();
    assert_eq!(parsed.frames, [Frame::filled(255), Frame::filled(15)]);
    assert_eq!(
        parsed.available,
        ActionSet::of(&[ActionKind::Action1, ActionKind::Action6])
    );
    assert_eq!(
        (parsed.state, parsed.levels_completed, parsed.win_levels),
        (PlayState::NotFinished, 1, 3)
    );
}

#[test]
fn invalid_response_is_rejected_with_the_reason() {
    let row = |cells: usize, color: i64| json!(vec![color; cells]);
    let frame = |rows: usize, row: &Value| json!(vec![vec![row.clone(); rows]]);
    let cases = [
        ("frame", json!([]), "there is no frame"),
        (
            "frame",
            frame(63, &row(64, 0)),
            "frame 1 has 63 rows, expected 64",
        ),
        (
            "frame",
            frame(65, &row(64, 0)),
            "frame 1 has more than 64 rows",
        ),
        (
            "frame",
            frame(64, &row(63, 0)),
            "row 1 of frame 1 has 63 cells, expected 64",
        ),
        (
            "frame",
            frame(64, &row(65, 0)),
            "row 1 of frame 1 has more than 64 cells",
        ),
        (
            "frame",
            frame(64, &row(64, 128)),
            "has a cell of 128, expected -128 to 127",
        ),
        ("frame", frame(64, &row(64, -129)), "has a cell of -129"),
        (
            "frame",
            json!(vec![frames_to_wire(&[Frame::filled(0)])[0].clone(); 1002]),
            "more than 1001 frames",
        ),
        ("frame", json!(null), "expected a list of frames"),
        ("frame", json!([[["x"]]]), "expected i64"),
        ("state", json!("NOT_PLAYED"), "its `state` is `NOT_PLAYED`"),
        ("guid", json!(""), "its `guid` is empty"),
        ("guid", json!(null), "expected a string"),
        (
            "levels_completed",
            json!(4),
            "its `levels_completed` is 4 and its `win_levels` 3",
        ),
        ("levels_completed", json!(-1), "expected u8"),
        ("win_levels", json!(255), "its `win_levels` 255"),
        ("available_actions", json!([8]), "contain 8"),
        ("available_actions", json!(null), "expected a sequence"),
    ];
    for (field, value, reason) in cases {
        let mut response = response();
        response[field] = value;
        let found = parse(&response).unwrap_err();
        assert!(found.contains(reason), "{field}: {found}");
        response.as_object_mut().unwrap().remove(field);
        assert!(
            parse(&response)
                .unwrap_err()
                .contains(&format!("missing field `{field}`"))
        );
    }
}

#[test]
fn game_list_is_parsed_and_invalid_ids_are_skipped() {
    let list = json!([
        {"game_id": "ab12-v1", "title": null, "tags": ["keyboard"], "baseline_actions": [4, 9], "baseline_source": ["solver", "humans"]},
        {"game_id": "ab12-v2", "title": "AB", "default_fps": 20},
        {"game_id": "ab12-v2"}, {"game_id": "Nope"}, {"title": "none"}, 7
    ]);
    let (games, skipped_games) = parse_games(list.to_string().as_bytes()).unwrap();
    assert_eq!((games.len(), skipped_games), (2, 4));
    assert_eq!(
        games[0].baselines[0],
        Baseline {
            actions: 4,
            source: BaselineSource::Solver
        }
    );
    assert_eq!(find(&games, "ab12").unwrap().id.as_str(), "ab12-v2");
    assert_eq!(find(&games, "AB12-V1").unwrap().id.as_str(), "ab12-v1");
    assert_eq!(nearest(&games, "ab13"), Some("ab12-v1".to_owned()));
    let wrong = json!([{"game_id": "ab12-v1", "baseline_actions": [-3]}]);
    assert_eq!(
        parse_games(wrong.to_string().as_bytes()).unwrap_err(),
        "the `baseline_actions` of `ab12-v1` cannot be read"
    );
    assert!(parse_games(b"{}").is_err());
}

proptest! {
    #[test]
    fn arbitrary_text_does_not_panic(text in ".{0,300}", cut in 0_usize..2000) {
        let _ = FrameResponse::parse(text.as_bytes());
        let _ = parse_games(text.as_bytes());
        let good = response().to_string();
        prop_assert!(FrameResponse::parse(&good.as_bytes()[..cut]).is_err());
    }
}
