use super::*;
use crate::task::{Pair, Test};

fn grid(rows: &[&[u8]]) -> Grid {
    Grid::new(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).unwrap()
}

fn task(tests: usize) -> Task {
    let pair = Pair {
        input: grid(&[&[1, 2], &[3, 4]]),
        output: grid(&[&[5]]),
    };
    let test = Test {
        input: grid(&[&[6, 7]]),
        output: Some(grid(&[&[9, 9]])),
    };
    Task {
        train: vec![pair.clone(), pair],
        test: vec![test; tests],
    }
}

#[test]
fn official_prompt_matches_the_harness_exactly() {
    let prompt = Prompt::built_in("official").unwrap();
    let text = prompt.test(&task(1), 0).unwrap();
    let one = |index| {
        format!("--Example {index}-- \n\n INPUT: \n\n[[1, 2], [3, 4]]\n\nOUTPUT: \n\n[[5]]\n\n")
    };
    let expected = format!(
        "\n\n--Training Examples--\n{}{}\n--End of Training Examples--\n\n--Test Input--\n[[6, 7]]\n--End of Test Input--\n\nYour response:",
        one(0),
        one(1)
    );
    assert!(text.ends_with(&expected), "{text}");
    assert_eq!(prompt.test(&task(1), 1), None);
}

#[test]
fn grids_are_written_in_three_forms() {
    let text = Prompt::built_in("text-grid")
        .unwrap()
        .test(&task(1), 0)
        .unwrap();
    assert!(
        text.contains("Example 1:\n\nInput:\n1 2\n3 4\nOutput:\n5\n\nExample 2:"),
        "{text}"
    );
    assert!(text.ends_with("Test:\n\nInput:\n6 7\nOutput:"), "{text}");
    let text = Prompt::built_in("nejumi-ja")
        .unwrap()
        .test(&task(1), 0)
        .unwrap();
    assert!(
        text.contains(
            "--例 0-- \n\n 入力: \n\n[\n  [1,2],\n  [3,4]\n]\n\n出力: \n\n[\n  [5]\n]\n\n--例 1--"
        ),
        "{text}"
    );
}

#[test]
fn no_prompt_contains_a_solution() {
    for (name, _) in PROMPTS {
        let prompt = Prompt::built_in(name).unwrap();
        let text = if prompt.is_whole_task() {
            prompt.whole_task(&task(2))
        } else {
            prompt.test(&task(2), 1).unwrap()
        };
        let solved = ["9,9", "9, 9", "9 9"]
            .iter()
            .any(|solution| text.contains(solution));
        assert!(!solved && text.contains('7'), "{name}: {text}");
        assert!(prompt.hash().len() == 64 && prompt.system().is_none());
    }
    assert!(Prompt::built_in("whole-task").unwrap().is_whole_task());
}

#[test]
fn whole_task_prompt_states_the_number_of_outputs() {
    let prompt = Prompt::built_in("whole-task").unwrap();
    let one = prompt.whole_task(&task(1));
    assert!(
        one.contains("{\"train\":[{\"input\":[[1,2],[3,4]],\"output\":[[5]]}")
            && one.contains("\"test\":[{\"input\":[[6,7]]}]}"),
        "{one}"
    );
    assert!(one.contains("such as [[1,2],[3,4]]."));
    assert!(
        prompt
            .whole_task(&task(3))
            .contains("There are 3 test inputs.")
    );
}

#[test]
fn custom_template_is_filled_in_once() {
    let text = "=== grid: digits\n=== system\nBe brief.\n=== example\n#{number} {input} > {output}; {not a place} {\n\n=== prompt\n{examples}\n{test} {\"json\": 1}\n";
    let prompt = Prompt::parse("mine", text).unwrap();
    assert_eq!(prompt.system(), Some("Be brief."));
    let filled = prompt.test(&task(1), 0).unwrap();
    assert_eq!(
        filled,
        "#1 1 2\n3 4 > 5; {not a place} {\n#2 1 2\n3 4 > 5; {not a place} {\n\n6 7 {\"json\": 1}"
    );
    assert_ne!(
        prompt.hash(),
        Prompt::parse("mine", &text.replace("brief", "short"))
            .unwrap()
            .hash()
    );
    let plain = Prompt::parse("plain", "Solve:\n{examples}\n{tests}").unwrap();
    assert!(plain.is_whole_task());
    assert_eq!(
        plain.whole_task(&task(2)),
        "Solve:\nInput:\n[[1, 2], [3, 4]]\nOutput:\n[[5]]\n\nInput:\n[[1, 2], [3, 4]]\nOutput:\n[[5]]\n\n\n[[6, 7]]\n\n[[6, 7]]"
    );
}

#[test]
fn invalid_template_is_rejected_with_a_reason() {
    let cases = [
        ("", "`{test}`"),
        ("{examples}", "`{test}`"),
        ("{test}", "no training pairs"),
        ("{examples} {test} {task}", "not both"),
        (
            "{examples} {test} {solution}",
            "unknown placeholder `{solution}`",
        ),
        (
            "x\n=== prompt\n{examples}{test}",
            "before the first section",
        ),
        (
            "=== grid: roman\n=== prompt\n{examples}{test}",
            "`roman` is not a grid format",
        ),
        ("=== grid: json\n", "the section `=== prompt` is missing"),
        ("=== prompt\n{examples}{test}\n=== prompt\n", "twice"),
        ("=== prompts\n", "unknown section `prompts`"),
        (
            "=== example\n{test}\n=== prompt\n{examples}{test}",
            "unknown placeholder `{test}` in this section",
        ),
    ];
    for (text, expected) in cases {
        let message = Prompt::parse("mine", text).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
    assert!(Prompt::parse("mine", &"x".repeat(MAX_TEMPLATE_BYTES + 1)).is_err());
    assert!(
        Prompt::built_in("unofficial")
            .unwrap_err()
            .to_string()
            .contains("`official`, `text-grid`")
    );
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "(=== (grid|prompt|example|system|x)(: json)?\n|[{}a-z_ é\n]|\\{(test|examples|task)\\}){0,40}") {
        if let Ok(prompt) = Prompt::parse("any", &text) {
            let _ = (prompt.whole_task(&task(2)), prompt.test(&task(2), 0));
        }
    }
}
