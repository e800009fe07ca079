use rhae_tasks::{Pair, Test};

use super::*;

fn task() -> Task {
    let grid = |rows: &[&[u8]]| Grid::new(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).unwrap();
    Task {
        train: vec![
            Pair { input: grid(&[&[1, 2], &[3, 4]]), output: grid(&[&[5]]) },
            Pair { input: grid(&[&[6]]), output: grid(&[&[7]]) },
        ],
        test: vec![Test { input: grid(&[&[8, 9]]), output: None }, Test { input: grid(&[&[0]]), output: None }],
    }
}

#[test]
fn our_templates_have_the_published_structure() {
    let official = Prompt::own("official").unwrap().fill(&task(), &[0]);
    assert!(
        official.contains(
            "--Training Examples--\n--Example 0-- \n\n INPUT: \n\n[[1, 2], [3, 4]]\n\nOUTPUT: \n\n[[5]]\n\n--Example 1-- "
        )
    );
    assert!(official.ends_with("--Test Input--\n[[8, 9]]\n--End of Test Input--\n\nYour response:"));
    let nejumi = Prompt::own("nejumi-ja").unwrap().fill(&task(), &[1]);
    assert!(nejumi.contains("--例 0-- \n\n 入力: \n\n[\n  [1,2],\n  [3,4]\n]\n\n出力: \n\n[\n  [5]\n]\n\n--例 1-- "));
    assert!(nejumi.contains("--テスト入力--\n[\n  [0]\n]\n"));
    let digits = Prompt::own("text-grid").unwrap().fill(&task(), &[0]);
    assert!(digits.contains("Example 1:\n\nInput:\n1 2\n3 4\n\nOutput:\n5\n"));
    let whole = Prompt::own("whole-task").unwrap();
    assert!(whole.is_whole());
    let text = whole.fill(&task(), &[0, 1]);
    assert!(text.contains(r#""test":[{"input":[[8,9]]},{"input":[[0]]}]"#) && text.contains("there are 2 test inputs"));
    let mut hashes: Vec<String> = Prompt::names().map(|name| Prompt::own(name).unwrap().sha256().to_owned()).collect();
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
}

#[test]
fn own_templates_are_checked() {
    let filled =
        Prompt::new("mine", "{{#examples}}{{ number }}:{{input|compact}}>{{output|compact}};{{/examples}}{{test|compact}}?")
            .unwrap();
    assert_eq!(filled.fill(&task(), &[0]), "1:[[1,2],[3,4]]>[[5]];2:[[6]]>[[7]];[[8,9]]?");
    for (text, reason) in [
        ("no test", "shows no test"),
        ("{{test|json", "line 1: `{{` is never closed"),
        ("a\n{{tset}}", "line 2: `{{tset}}` is not known"),
        ("{{test|xml}}", "`{{test|xml}}` is not known"),
        ("{{input|json}}{{test}}", "belongs between"),
        ("{{#examples}}{{test}}{{/examples}}", "does not belong into the examples"),
        ("{{#examples}}{{test", "never closed"),
        ("{{#examples}}{{index}}", "`{{#examples}}` is never closed"),
        ("{{/examples}}{{test}}", "has no beginning"),
        ("{{#examples}}{{#examples}}{{/examples}}{{test}}", "`{{#examples}}` is not known"),
        ("{{test}}{{task}}", "asks for one test or for all"),
    ] {
        let error = Prompt::new("mine", text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}
