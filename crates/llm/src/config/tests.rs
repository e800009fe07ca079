use super::*;

const FILE: &str = r#"
[models.big]
provider = "openai-chat"
model = "gpt-big"
key_env = "MY_KEY"
base_url = "https://example.org/v1/"
stream = true
headers = { X-Team = "secret-team" }

[models.big.request]
max_completion_tokens = 32000
reasoning_effort = "high"

[models.big.prices]
date = "2026-11-01"
input = 1.25
cached_input = 0.125
output = 10

[models.big.limits]
in_flight = 8
requests_per_minute = 60

[models.big.timeouts]
read_s = 7200
total_s = 86400

[models.words]
provider = "mock"
replies = ["yes", "no"]
"#;

/// `docs/models.md` shows all optional tables with the defaults, which this test compares with the
/// code.
#[test]
fn documented_settings_are_the_defaults() {
    let docs = include_str!("../../../../docs/models.md");
    let (_, rest) = docs
        .split_once("The values shown are the defaults.")
        .unwrap();
    let tables = rest
        .split("```")
        .nth(1)
        .unwrap()
        .strip_prefix("toml")
        .unwrap();
    let required = "[models.big]\nprovider = \"mock\"\nreplies = [\"yes\"]\n";
    let settings = |tables: &str| {
        let models = Models::parse(&format!("{required}{tables}")).unwrap();
        serde_json::to_value(models.find("big").unwrap()).unwrap()
    };
    let defaults = settings("");
    assert_eq!(settings(tables), defaults);
    for table in ["limits", "timeouts", "retries", "breaker"] {
        assert!(tables.contains(&format!("[models.big.{table}]")), "{table}");
        for name in defaults[table].as_object().unwrap().keys() {
            assert!(tables.contains(&format!("\n{name} = ")), "{table}.{name}");
        }
    }
}

#[test]
fn file_is_parsed() {
    let models = Models::parse(FILE).unwrap();
    assert_eq!(
        models
            .iter()
            .map(|model| model.name.as_str())
            .collect::<Vec<_>>(),
        ["big", "words"]
    );
    let big = models.find("big").unwrap();
    assert_eq!(big.base(), "https://example.org/v1");
    assert_eq!(big.key_variable(), Some("MY_KEY"));
    assert_eq!(big.request["max_completion_tokens"], 32000);
    assert_eq!(
        (big.timeouts.connect_s, big.timeouts.read_s),
        (10.0, 7200.0)
    );
    assert_eq!(models.find("words").unwrap().key_variable(), None);
    let unknown = models.find("small").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "there is no model `small`; the file has `big`, `words`"
    );
}

#[test]
fn serialised_config_has_no_header_values_and_can_be_parsed() {
    let models = Models::parse(FILE).unwrap();
    let text = serde_json::to_string(models.find("big").unwrap()).unwrap();
    assert!(
        text.contains("X-Team") && !text.contains("secret-team"),
        "{text}"
    );
    assert!(text.contains("\"date\":\"2026-11-01\""), "{text}");
}

/// A text of the file, its replacement, and a part of the expected error.
const INVALID: &[(&str, &str, &str)] = &[
    (
        "openai-chat",
        "openai-chatter",
        "there is no provider `openai-chatter`: expected `openai-chat`",
    ),
    ("stream = true", "steam = true", "unknown field `steam`"),
    (
        "model = \"gpt-big\"",
        "",
        "the provider `openai-chat` requires `model`",
    ),
    (
        "provider = \"openai-chat\"",
        "provider = \"anthropic\"",
        "requires `max_tokens` in `request`",
    ),
    (
        "provider = \"openai-chat\"\nmodel = \"gpt-big\"",
        "provider = \"gemini\"\nmodel = \"a?b\"",
        "allows only letters",
    ),
    (
        "https://example.org",
        "ftp://example.org",
        "`base_url` must start",
    ),
    (
        "https://example.org",
        "https://me:secret@example.org",
        "name or password",
    ),
    (
        "reasoning_effort",
        "messages",
        "`request` must not contain `messages`",
    ),
    (
        "read_s = 7200",
        "read_s = 0",
        "`timeouts.read_s` must be more than 0",
    ),
    (
        "total_s = 86400",
        "total_s = nan",
        "`timeouts.total_s` must be more than 0",
    ),
    (
        "in_flight = 8",
        "in_flight = 0",
        "`limits.in_flight` must be at least 1",
    ),
    ("2026-11-01", "last year", "`prices.date` must be a date"),
    ("input = 1.25", "input = -1", "a price must be from 0"),
    (
        "replies = [\"yes\", \"no\"]",
        "",
        "the provider `mock` requires `replies`",
    ),
    (
        "replies",
        "model = \"x\"\nreplies",
        "does not support `model`",
    ),
    (
        "[models.words]",
        "[models.\"../words\"]",
        "a name must have 1 to 64",
    ),
    ("[models.words]", "[models.words", "cannot be read"),
];

#[test]
fn invalid_values_are_named() {
    let wrong = |from: &str, to: &str| {
        Models::parse(&FILE.replacen(from, to, 1))
            .unwrap_err()
            .to_string()
    };
    for (from, to, expected) in INVALID {
        let message = wrong(from, to);
        assert!(message.contains(expected), "{to}: {message}");
        assert!(!message.contains("secret@"), "{message}");
    }
}

#[test]
fn default_backoff_doubles_from_a_second_to_a_minute() {
    let backoff = RetryPolicy::default().backoff();
    assert_eq!(
        (backoff.max_attempts, backoff.first, backoff.max),
        (8, seconds(1.0), seconds(60.0))
    );
    assert_eq!(backoff.max_requested, seconds(600.0));
}

#[test]
fn both_spellings_of_the_rate_limit_mean_the_same() {
    let rate = |limits: &str| {
        let text = FILE.replace("requests_per_minute = 60", limits);
        Models::parse(&text).map(|models| models.find("big").unwrap().limits.rate())
    };
    let expected = Rate::per_minute(60.0).unwrap();
    assert_eq!(rate("requests_per_minute = 60"), Ok(Some(expected)));
    assert_eq!(rate("rate_limit = \"60/min\""), Ok(Some(expected)));
    assert_eq!(
        rate("rate_limit = 1").unwrap().unwrap().interval(),
        seconds(1.0)
    );
    assert_eq!(rate(""), Ok(None));
    let both = rate("rate_limit = 1\nrequests_per_minute = 60").unwrap_err();
    assert!(both.to_string().contains("only one of"), "{both}");
    let wrong = rate("rate_limit = \"5/week\"").unwrap_err();
    assert!(wrong.to_string().contains("expected a number"), "{wrong}");
}
