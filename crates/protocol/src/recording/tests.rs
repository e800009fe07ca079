use proptest::prelude::*;
use rhae_engine::{ActionKind, CELLS};

use super::*;

fn header() -> Header {
    Header {
        game_id: "ab12-v1".parse().unwrap(),
        seed: 0,
        agent: "random".to_owned(),
        agent_seed: Some(7),
        software: "rhae 0.1.0".to_owned(),
        guid: Some("0d1e".to_owned()),
        resets: ResetRule::LevelsOnly,
        win_levels: 2,
        available: ActionSet::ARROWS.with(ActionKind::Action6),
        source_digest: None,
    }
}

fn entry(action: Action, color: u8) -> Entry {
    let frames = vec![Frame::filled(color), Frame::filled(color + 1)];
    let full_reset = action == Action::Reset;
    Entry {
        action,
        hash: Frame::hash_all(&frames),
        frames: Some(frames),
        state: PlayState::NotFinished,
        levels_completed: 0,
        full_reset,
        counted: !full_reset,
        changed: Some(true),
        details: Details::default(),
    }
}

fn recording() -> Recording {
    let mut won = entry(Action::Action6 { x: 3, y: 9 }, 4);
    won.state = PlayState::Win;
    won.levels_completed = 2;
    won.details = Details {
        t_ms: Some(40),
        reasoning: Some("because".into()),
        usage: None,
        cost_usd: Some(0.5),
    };
    let mut idle = entry(Action::Action3, 3);
    idle.changed = Some(false);
    Recording {
        format: Format::Rhae,
        header: header(),
        entries: vec![
            entry(Action::Reset, 1),
            entry(Action::Action1, 2),
            idle,
            won,
        ],
        ending: Some(Ending::Won),
        message: None,
    }
}

fn without_frames(mut recording: Recording) -> Recording {
    recording
        .entries
        .iter_mut()
        .for_each(|entry| entry.frames = None);
    recording
}

#[test]
fn action_log_format_is_pinned() {
    insta::assert_snapshot!(recording().to_text(Format::Rhae).unwrap(), @r#"
    {"format":"rhae-recording","version":1,"game_id":"ab12-v1","seed":0,"agent":"random","agent_seed":7,"software":"rhae 0.1.0","guid":"0d1e","resets":"levels-only","win_levels":2,"available_actions":[1,2,3,4,6]}
    {"action":"0","hash":"ed73aa316c86b6fc","levels":0,"full_reset":true}
    {"action":"1","hash":"50988597695e881c","levels":0}
    {"action":"3","hash":"f409724a455a4ca4","levels":0,"unchanged":true}
    {"action":"6@3,9","hash":"fabb57a524ad1044","levels":2,"state":"WIN","t_ms":40,"reasoning":"because","cost_usd":0.5}
    {"end":"won"}
    "#);
}

#[test]
fn action_log_round_trips_without_frames() {
    let recording = recording();
    let text = recording.to_text(Format::Rhae).unwrap();
    assert_eq!(Recording::parse(&text).unwrap(), without_frames(recording));
}

#[test]
fn official_formats_round_trip_with_frames() {
    for format in [Format::Toolkit, Format::Agents] {
        let recording = recording();
        let read = Recording::parse(&recording.to_text(format).unwrap()).unwrap();
        assert_eq!(read.format, format);
        assert_eq!(read.header.win_levels, 2);
        assert_eq!(read.header.available, recording.header.available);
        for (found, expected) in read.entries.iter().zip(&recording.entries) {
            assert_eq!(
                (found.action, found.hash, &found.frames),
                (expected.action, expected.hash, &expected.frames)
            );
            assert_eq!(
                (found.state, found.levels_completed, found.full_reset),
                (
                    expected.state,
                    expected.levels_completed,
                    expected.full_reset
                )
            );
            assert_eq!(found.details.reasoning, expected.details.reasoning);
        }
    }
}

#[test]
fn ignored_commands_are_omitted_from_the_official_formats() {
    let mut recording = recording();
    let mut ignored = entry(Action::Reset, 3);
    (ignored.full_reset, ignored.counted, ignored.changed) = (false, false, Some(false));
    recording.entries.insert(2, ignored);
    assert_eq!(
        Recording::parse(&recording.to_text(Format::Rhae).unwrap())
            .unwrap()
            .entries
            .len(),
        5
    );
    assert_eq!(
        Recording::parse(&recording.to_text(Format::Toolkit).unwrap())
            .unwrap()
            .entries
            .len(),
        4
    );
}

#[test]
fn recordings_of_the_official_tools_are_parsed() {
    let frame = serde_json::to_string(&vec![vec![vec![5; 64]; 64]]).unwrap();
    let toolkit = format!(
        r#"{{"timestamp":"2026-11-15T10:00:00.000001+00:00","data":{{"game_id":"ab12-v1","state":"GAME_OVER","levels_completed":0,"win_levels":2,"action_input":{{"id":"ACTION6","data":{{"x":1,"y":2}},"reasoning":{{"why":"probe"}}}},"guid":"0d1e","full_reset":false,"available_actions":[6],"frame":{frame}}}}}
{{"timestamp":"2026-11-15T10:00:00.000001+00:00","data":{{"game_id":"ab12-v1","state":"GAME_OVER","levels_completed":0,"win_levels":0,"action_input":{{"id":"ACTION1","data":{{}},"reasoning":null}},"guid":"0d1e","full_reset":false,"available_actions":[6],"frame":[]}}}}"#
    );
    let read = Recording::parse(&toolkit).unwrap();
    assert_eq!(read.format, Format::Toolkit);
    assert_eq!(
        read.entries.len(),
        1,
        "a command after the end has no frame and is skipped"
    );
    assert_eq!(read.entries[0].action, Action::Action6 { x: 1, y: 2 });
    assert_eq!(
        read.entries[0].hash,
        Frame::hash_all(&[Frame::from_cells([5; CELLS])])
    );

    let without = toolkit.lines().nth(1).unwrap();
    let error = Recording::parse(without).unwrap_err().to_string();
    assert_eq!(
        error,
        "line 1: the observation has no frames, so it cannot be compared with a replay"
    );

    let agents = format!(
        r#"{{"timestamp":"2026-11-15T10:00:01+00:00","data":{{"game_id":"ab12-v1","frame":{frame},"state":"NOT_FINISHED","levels_completed":0,"win_levels":2,"action_input":{{"id":0,"data":{{}},"reasoning":null}},"guid":"0d1e","full_reset":false,"available_actions":[6]}}}}
{{"timestamp":"2026-11-15T10:00:02+00:00","data":{{"tokens":5,"total_tokens":9,"assistant":"ACTION1"}}}}"#
    );
    let read = Recording::parse(&agents).unwrap();
    assert_eq!((read.format, read.entries.len()), (Format::Agents, 1));
    assert!(read.entries[0].full_reset);
}

#[test]
fn errors_name_the_line_and_the_reason() {
    let text = recording().to_text(Format::Rhae).unwrap();
    let damaged = [
        String::new(),
        "{}".to_owned(),
        "GIF89a".to_owned(),
        text[..text.len() / 2].to_owned(),
        text.replace("\"version\":1", "\"version\":2"),
        text.replace("ab12-v1", "ab12"),
        text.replace("6@3,9", "6@3,99"),
        text.replace("\"hash\":\"f409", "\"hash\":\"zz"),
        text.replace("\"levels\":2", "\"levels\":-2"),
        text.replace("{\"end\":\"won\"}", "{\"end\":\"tired\"}"),
        format!("{text}{text}"),
    ];
    let reasons: Vec<String> = damaged
        .iter()
        .map(|text| Recording::parse(text).unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(reasons.join("\n"), @r#"
    the recording is empty
    line 1: this is not a recording: expected a header with `"format":"rhae-recording"`, or a line with `data.action_input`
    line 1: not valid JSON: expected value
    line 2: the line is cut off (EOF while parsing a string)
    line 1: the recording has format version 2, and this software reads version 1
    line 1: `ab12` is not an environment id: expected four lower-case letters or digits, a hyphen and a version, as in `ab12-v1`
    line 5: `6@3,99` is not an action: expected `0` to `5`, `7`, or `6@x,y` with x and y from 0 to 63
    line 4: `zz724a455a4ca4` is not a hash of 16 hexadecimal digits
    line 5: invalid value: integer `-2`, expected u8
    line 6: `tired` is not an ending: expected `won`, `budget`, `timeout`, `stopped`, `failed` or `environment failed`
    line 7: there are lines after the closing line
    "#);
}

#[test]
fn log_of_ten_thousand_actions_is_smaller_than_a_megabyte() {
    let mut long = recording();
    long.entries = vec![entry(Action::Reset, 1)];
    long.entries.extend(std::iter::repeat_n(
        entry(Action::Action6 { x: 63, y: 63 }, 2),
        10_000,
    ));
    assert!(long.to_text(Format::Rhae).unwrap().len() < 1_000_000);
}

proptest! {
    #[test]
    fn parser_does_not_panic_on_arbitrary_text(text in "\\PC{0,200}") {
        let _ = Recording::parse(&text);
    }

    #[test]
    fn parser_does_not_panic_on_damaged_recordings(at in any::<prop::sample::Index>(), with in any::<char>(), format in 0..2) {
        let mut small = without_frames(recording()).to_text(Format::Rhae).unwrap();
        if format == 1 {
            small = r#"{"data":{"game_id":"ab12-v1","frame":[[[1]]],"state":"WIN","levels_completed":0,"action_input":{"id":6,"data":{"x":1,"y":2}}}}"#.to_owned();
        }
        let place = at.index(small.len());
        if small.is_char_boundary(place) {
            small.insert(place, with);
            let _ = Recording::parse(&small);
            let _ = Recording::parse(&small[..place]);
        }
    }
}
