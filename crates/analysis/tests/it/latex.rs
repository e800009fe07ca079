//! The structure of the LaTeX tables: what a LaTeX program requires of a document, without one.

use rhae_analysis::{report, report_latex};
use rhae_protocol::{AnalysedRun, Behaviour, MeanScore};

/// The commands that the tables may use: those of LaTeX and of the packages that the first line names.
const COMMANDS: [&str; 17] = [
    "begin",
    "end",
    "centering",
    "resizebox",
    "linewidth",
    "toprule",
    "midrule",
    "bottomrule",
    "caption",
    "label",
    "texttt",
    "textbackslash",
    "textasciitilde",
    "textasciicircum",
    "textasciigrave",
    "textless",
    "textgreater",
];
/// Labels with every character that LaTeX treats in a special way.
const HOSTILE: [&str; 4] = [
    "[2pt] 50 % & more",
    "*a_b^c~d#e$f{g}h\\end{table}",
    "`code` and `half",
    "“0%” − 3 × 4 – 5 <x> | ]",
];

fn run(label: &str) -> AnalysedRun {
    AnalysedRun {
        label: label.to_owned(),
        method: "docs-2026-04".to_owned(),
        budget: Some("5x".to_owned()),
        repeats: 2,
        score: MeanScore {
            mean: 1.5,
            interval: [0.0, 4.0],
            environments: 8,
            ..MeanScore::default()
        },
        interpretation: Some(format!("“0%: {label}”")),
        levels: 64,
        behaviour: Behaviour {
            actions: Some(734.0),
            ..Behaviour::default()
        },
        cost_usd: Some(1.25),
        ..AnalysedRun::default()
    }
}

/// Reads the LaTeX commands, and checks braces, mathematics and special characters.
///
/// Returns the document without escapes, so that the remaining `&` and `\\` divide tables.
fn checked(document: &str) -> String {
    let mut rest = String::new();
    let (mut depth, mut is_math) = (0_usize, false);
    let mut letters = document.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.peek().copied() {
                Some('\\') => {
                    letters.next();
                    let next = letters.clone().find(|letter| !letter.is_whitespace());
                    assert!(!matches!(next, Some('[' | '*')), "an argument of a row end");
                    rest.push_str("\\\\");
                }
                Some('&' | '%' | '$' | '#' | '_' | '{' | '}') => {
                    letters.next();
                }
                _ => {
                    let mut name = String::new();
                    while let Some(letter) = letters.next_if(char::is_ascii_alphabetic) {
                        name.push(letter);
                    }
                    let is_known = COMMANDS.contains(&name.as_str()) || is_math && name == "times";
                    assert!(is_known, "`\\{name}` is not a command of the tables");
                    if name.ends_with("rule") {
                        let next = letters.clone().find(|letter| !letter.is_whitespace());
                        assert_ne!(next, Some('['), "an argument of `\\{name}`");
                    }
                    rest.push('\\');
                    rest.push_str(&name);
                }
            },
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1).expect("a brace closes an open one"),
            '$' => is_math = !is_math,
            '%' => {
                // A comment ends the line.
                while letters.next_if(|&letter| letter != '\n').is_some() {}
            }
            '#' | '_' | '^' | '~' => panic!("`{letter}` is not escaped"),
            _ => {
                assert!(letter.is_ascii(), "`{letter}` needs a command");
                rest.push(letter);
            }
        }
    }
    assert_eq!((depth, is_math), (0, false), "unbalanced braces or dollars");
    rest
}

#[test]
fn tables_have_the_structure_of_latex() {
    let runs = HOSTILE.map(run);
    let count = runs.len();
    let document = report_latex(&report(runs.to_vec()));
    let plain = checked(&document);
    let tables: Vec<&str> = plain.split("\\begintabular").skip(1).collect();
    assert_eq!(tables.len(), 2, "the runs and the published results");
    for (table, rows) in tables.into_iter().zip([count, 6]) {
        let (columns, table) = table.split_once('\n').unwrap();
        assert!(columns.chars().all(|column| "lr".contains(column)));
        let (body, rest) = table.split_once("\\bottomrule").unwrap();
        assert!(rest.trim_start().starts_with("\\endtabular"));
        let lines: Vec<&str> = body.split("\\\\").map(str::trim).collect();
        let (last, lines) = lines.split_last().unwrap();
        assert_eq!(*last, "", "every row ends with two backslashes");
        assert_eq!(lines.len(), 1 + rows);
        for line in lines {
            assert_eq!(line.matches('&').count(), columns.len() - 1, "{line}");
        }
    }
    for environment in ["table", "tabular"] {
        let begun = plain.matches(&format!("\\begin{environment}")).count();
        assert_eq!(begun, plain.matches(&format!("\\end{environment}")).count());
    }
}
