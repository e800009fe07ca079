//! The main usage errors: the printed text and the exit code.

use super::Bench;
use crate::hosted_games::fixtures;

#[test]
fn arguments_that_the_parser_rejects() {
    let bench = Bench::new();
    bench.failure("no_command", &[]);
    bench.failure("unknown_command", &["runn"]);
    bench.failure("unknown_subcommand", &["arc", "scores"]);
    bench.failure("missing_subcommand", &["games"]);
    bench.failure("unknown_flag", &["run", "--agnet", "random"]);
    bench.failure("missing_value", &["run", "--seed"]);
    bench.failure("value_of_wrong_type", &["run", "--seed", "x"]);
    bench.failure("value_out_of_range", &["run", "--repeat", "0"]);
    bench.failure("missing_argument", &["games", "info"]);
    bench.failure("missing_required_flag", &["score", "levels"]);
    bench.failure(
        "conflicting_flags",
        &["run", "--agent", "random", "--agent-cmd", "x"],
    );
    bench.failure("flag_needs_another", &["run", "--competition"]);
    bench.failure("unknown_budget", &["run", "--budget", "lots"]);
    bench.failure("unknown_method", &["run", "--method", "docs"]);
    bench.failure(
        "unknown_choice",
        &["replay", "convert", "x", "--to", "avi", "--out", "y"],
    );
    bench.failure(
        "unknown_set_of_games",
        &["keys", "create", "--name", "x", "--sets", "secret"],
    );
    bench.failure("unknown_parser", &["arc", "parse", "--parser", "strict"]);
}

#[test]
fn names_that_do_not_exist() {
    let bench = Bench::new();
    bench.write(
        "models.toml",
        "[models.m]\nprovider = \"mock\"\nreplies = [\"x\"]\n",
    );
    bench.failure("unknown_game", &["games", "info", "kq91"]);
    bench.failure("unknown_game_without_neighbour", &["play", "zzzz"]);
    bench.failure("run_unknown_game", &["run", "--games", "kq19,kq91"]);
    bench.failure("run_game_twice", &["run", "--games", "kq19,kq19-v1"]);
    bench.failure("run_no_game", &["run", "--games", ","]);
    bench.failure("run_unknown_agent", &["run", "--agent", "explorr"]);
    bench.failure("run_unknown_model", &["run", "--agent", "model:other"]);
    bench.failure("run_model_flag", &["run", "--max-cost", "1"]);
    bench.failure("run_key_without_server", &["run", "--key", "k"]);
    bench.failure("run_step_timeout", &["run", "--step-timeout", "0"]);
    bench.failure("llm_unknown_model", &["llm", "check", "other"]);
    bench.failure(
        "explore_unknown_level",
        &["explore", "ny40", "--level", "9"],
    );
    bench.failure("validate_nothing_named", &["validate"]);
    bench.failure("novelty_one_game", &["games", "novelty", "kq19"]);
    bench.failure("games_new_bad_id", &["games", "new", "AB12"]);
    bench.failure("games_new_no_checkout", &["games", "new", "ab12"]);
    let tasks = fixtures("arc/tasks");
    bench.failure(
        "arc_unknown_task",
        &["arc", "show", "zzzz9999", "--data", &tasks],
    );
    bench.failure(
        "arc_unknown_set",
        &[
            "arc", "validate", "x.json", "--data", &tasks, "--set", "other",
        ],
    );
    bench.failure(
        "arc_unknown_solver",
        &["arc", "eval", "--solver", "magic", "--data", &tasks],
    );
    bench.failure(
        "arc_bad_shard",
        &[
            "arc", "eval", "--solver", "random", "--data", &tasks, "--shard", "5/4",
        ],
    );
    bench.failure("keys_unknown_id", &["keys", "revoke", "nonsense"]);
    bench.failure(
        "keys_bad_url",
        &["keys", "invite", "--name", "x", "--url", "example.org"],
    );
}

#[test]
fn files_that_are_missing_or_damaged() {
    let bench = Bench::new();
    let tasks = fixtures("arc/tasks");
    bench.write("text.jsonl", "this is not a recording\n");
    bench.write("empty.csv", "");
    bench.write("header.csv", "player,environment\n");
    bench.write(
        "bad.toml",
        "[models.m]\nprovider = \"mock\"\nsteam = true\n",
    );
    bench.write("full", "");
    bench.failure("replay_missing_file", &["replay", "verify", "none.jsonl"]);
    bench.failure(
        "replay_not_a_recording",
        &["replay", "verify", "text.jsonl"],
    );
    bench.failure("replay_folder", &["score", "recording", "."]);
    bench.failure(
        "run_replay_missing_file",
        &["run", "--agent", "replay:none.jsonl"],
    );
    bench.failure("run_resume_missing_folder", &["run", "--resume", "none"]);
    bench.failure("run_missing_games_folder", &["run", "--games-dir", "none"]);
    bench.failure("score_run_missing_folder", &["score", "run", "none"]);
    bench.failure("score_run_file", &["score", "run", "full"]);
    bench.failure(
        "score_humans_missing_file",
        &["score", "humans", "none.csv"],
    );
    bench.failure("score_humans_empty_file", &["score", "humans", "empty.csv"]);
    bench.failure(
        "score_humans_wrong_header",
        &["score", "humans", "header.csv"],
    );
    bench.failure("llm_missing_file", &["llm", "list"]);
    bench.failure(
        "llm_unknown_field",
        &["llm", "list", "--models", "bad.toml"],
    );
    bench.failure("db_missing_file", &["db", "check"]);
    bench.failure("keys_missing_database", &["keys", "list"]);
    bench.failure("arc_missing_data", &["arc", "validate", "--data", "none"]);
    bench.failure(
        "arc_missing_submission",
        &["arc", "score", "none.json", "--data", &tasks],
    );
    bench.failure(
        "arc_resume_missing_folder",
        &["arc", "eval", "--resume", "none"],
    );
    bench.failure(
        "explore_unknown_format",
        &["explore", "ny40", "--export", "graph.txt"],
    );
    bench.failure(
        "explore_missing_folder",
        &["explore", "ny40", "--picture", "none/graph.svg"],
    );
}

#[test]
fn commands_that_need_something_else() {
    let bench = Bench::new();
    bench.failure("play_without_terminal", &["play", "hk26"]);
    bench.failure("serve_open_address", &["serve", "--addr", "0.0.0.0:0"]);
    bench.failure("serve_bad_address", &["serve", "--addr", "nonsense"]);
    bench.failure(
        "serve_unknown_game",
        &["serve", "--addr", "127.0.0.1:0", "--games", "zz99"],
    );
    bench.failure(
        "run_unreachable_server",
        &["run", "--server", "http://127.0.0.1:1", "--games", "ny40"],
    );
    bench.failure(
        "score_levels_counts_differ",
        &["score", "levels", "--baselines", "10,20", "--actions", "10"],
    );
    bench.failure(
        "score_levels_zero_actions",
        &["score", "levels", "--baselines", "10", "--actions", "0"],
    );
    bench.failure(
        "bench_python_missing",
        &["bench", "python", "--python", "./none"],
    );
}
