//! The JSON form of a scorecard, with every optional field and without any.

use rhae_engine::PlayState;
use rhae_protocol::{Ending, EnvironmentScore, ModelUsage, RunScore, Scorecard, TagScore};
use serde_json::json;

fn spent(calls: u64) -> ModelUsage {
    ModelUsage {
        calls,
        input_tokens: 1000 * calls,
        cached_tokens: 100 * calls,
        output_tokens: 50 * calls,
        reasoning_tokens: 20 * calls,
        cost_usd: Some(0.25),
        uncounted: 1,
        possibly_paid_usd: None,
    }
}

/// Returns a run that has only the required fields.
fn run() -> RunScore {
    RunScore {
        id: "ab12-v1".to_owned(),
        guid: "guid-1".to_owned(),
        score: 12.5,
        levels_completed: 1,
        actions: 17,
        unchanged_actions: 3,
        resets: 2,
        state: PlayState::NotFinished,
        completed: false,
        level_scores: vec![100.0, 0.0],
        level_actions: vec![7, 10],
        level_baseline_actions: vec![7, -1],
        number_of_levels: 2,
        number_of_environments: 1,
        ending: None,
        message: None,
        level_spent: Vec::new(),
    }
}

/// Returns a card that has only the required fields.
fn card() -> Scorecard {
    Scorecard {
        card_id: "card-1".to_owned(),
        score: 12.5,
        method: "METHOD".to_owned(),
        software: "SOFTWARE".to_owned(),
        owner: None,
        source_url: None,
        tags: Vec::new(),
        opaque: None,
        environments: vec![EnvironmentScore {
            id: "ab12-v1".to_owned(),
            runs: vec![run()],
            score: 12.5,
            actions: 17,
            levels_completed: 1,
            completed: false,
            level_count: 2,
            resets: 2,
            baseline_source: Vec::new(),
            source_digests: Vec::new(),
            spent: None,
        }],
        tags_scores: Vec::new(),
        competition_mode: None,
        total_environments_completed: 0,
        total_environments: 1,
        total_levels_completed: 1,
        total_levels: 2,
        total_actions: 17,
        spent: None,
    }
}

/// Returns the same card with every optional field.
fn full_card() -> Scorecard {
    let mut card = card();
    card.source_url = Some("https://example.org/agent".to_owned());
    card.tags = vec!["agent".to_owned(), "mine".to_owned()];
    card.opaque = Some(json!({"b": 1, "a": [null, "text"]}));
    card.competition_mode = Some(true);
    card.spent = Some(spent(3));
    card.tags_scores = vec![TagScore {
        id: "keyboard".to_owned(),
        score: 12.5,
        levels_completed: 1,
        actions: 17,
        number_of_levels: 2,
        number_of_environments: 1,
    }];
    let environment = &mut card.environments[0];
    environment.baseline_source = vec!["human".to_owned(), "solver".to_owned()];
    environment.spent = Some(spent(3));
    let run = &mut environment.runs[0];
    run.ending = Some(Ending::Failed);
    run.message = Some("MESSAGE".to_owned());
    run.level_spent = vec![
        spent(3),
        ModelUsage {
            cost_usd: None,
            ..ModelUsage::default()
        },
    ];
    card
}

#[test]
fn scorecard_with_required_fields() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&card()).unwrap());
}

#[test]
fn scorecard_with_every_field() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&full_card()).unwrap());
}

#[test]
fn scorecard_is_read_back_unchanged() {
    for card in [card(), full_card()] {
        let text = serde_json::to_string(&card).unwrap();
        assert_eq!(serde_json::from_str::<Scorecard>(&text).unwrap(), card);
    }
}

#[test]
fn scorecard_of_the_official_server_is_read() {
    // The official server sends neither tags nor the fields that Rhae adds to runs.
    let mut text = serde_json::to_value(card()).unwrap();
    let fields = text.as_object_mut().unwrap();
    fields.remove("tags");
    fields.remove("tags_scores");
    text["environments"][0]
        .as_object_mut()
        .unwrap()
        .remove("baseline_source");
    let run = text["environments"][0]["runs"][0].as_object_mut().unwrap();
    run.remove("unchanged_actions");
    let mut expected = card();
    expected.environments[0].runs[0].unchanged_actions = 0;
    assert_eq!(serde_json::from_value::<Scorecard>(text).unwrap(), expected);
}

#[test]
fn state_of_a_run_is_one_of_three_names() {
    let mut json = serde_json::to_value(run()).unwrap();
    for state in ["NOT_FINISHED", "WIN", "GAME_OVER"] {
        json["state"] = state.into();
        let read: RunScore = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap()["state"], state);
    }
    json["state"] = "LOST".into();
    assert!(serde_json::from_value::<RunScore>(json).is_err());
}
