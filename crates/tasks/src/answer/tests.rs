use proptest::prelude::*;

use super::*;

/// Returns the grid as text, or the kind of the error.
fn shown(parser: Parser, text: &str) -> String {
    match parse(parser, text) {
        Ok(answer) => answer.grids[0].to_string(),
        Err(reason) => reason.kind().to_owned(),
    }
}

const GRID: &str = "[[1,2],[3,4]]";

/// A text and the expected results of the parser of Nejumi, the parser of the official harness, and
/// the lenient parser.
const TABLE: &[(&str, &str, &str, &str)] = &[
    ("[[1,2],[3,4]]", GRID, GRID, GRID),
    ("```json\n[[1,2],[3,4]]\n```", GRID, GRID, GRID),
    ("array([[1, 2],\n [3, 4]])", GRID, GRID, GRID),
    (
        "[[1,2],[3,4]] (see example [0])",
        "not-a-grid",
        "not-a-grid",
        GRID,
    ),
    ("[[1,2],[3,4]] \\text{done}", "not-json", "not-json", GRID),
    ("[[1,2],[3,4]]}", "not-json", "not-json", GRID),
    ("[[1,2],[3,4]] \"]\"", "not-json", "not-json", GRID),
    (
        "{\"output\": [[1,2],[3,4]]}",
        "not-a-grid",
        "not-a-grid",
        GRID,
    ),
    (
        "[{\"name\":\"submit\",\"arguments\":\"{\\\"grid\\\": [[1,2],\\n[3,4]]}\"}]",
        "not-a-grid",
        "not-a-grid",
        GRID,
    ),
    ("\\boxed{[[1,2],[3,4]]}", "not-json", GRID, GRID),
    (
        "\\boxed{[[9]]} wrong. \\boxed{[[1,2]]}",
        "not-json",
        "[[9]]",
        "[[1,2]]",
    ),
    (
        "<think>\\boxed{[[0]]}</think>\n[[1,2]]",
        "[[1,2]]",
        "[[0]]",
        "[[1,2]]",
    ),
    ("\\boxed{[]} [[1,2]]", "[[1,2]]", "empty-grid", "[[1,2]]"),
    (
        "[[[1,2],[3,4]]]",
        "three-dimensional",
        "three-dimensional",
        GRID,
    ),
    (
        "[[[1,2],[3,4]],[[5,6],[7,8]]]",
        "three-dimensional",
        "three-dimensional",
        "three-dimensional",
    ),
    ("[[1,2],[3]]", "ragged", "ragged", "ragged"),
    ("[[5]] or [[1,2],[3]]", "ragged", "ragged", "[[5]]"),
    ("[[]]", "empty-grid", "empty-grid", "empty-grid"),
    ("[[5]] [[]]", "empty-grid", "empty-grid", "[[5]]"),
    ("[[10]]", "out-of-range", "out-of-range", "out-of-range"),
    ("[[5]] [[1,10]]", "out-of-range", "out-of-range", "[[5]]"),
    ("[[-1]]", "out-of-range", "out-of-range", "out-of-range"),
    ("[[NaN]]", "not-json", "not-json", "non-integer"),
    ("[[\"1\",\"2\"]]", "[[1,2]]", "[[1,2]]", "[[1,2]]"),
    ("[[1.0,2]]", "[[1,2]]", "[[1,2]]", "[[1,2]]"),
    ("[[true,2]]", "[[1,2]]", "[[1,2]]", "non-integer"),
    ("[[1.5,2]]", "[[1,2]]", "non-integer", "non-integer"),
    ("[[1,2],[3,4],]", "not-json", "not-json", GRID),
    ("[(1,2),(3,4)]", "not-json", "not-json", GRID),
    ("[[1 2]\n [3 4]]", "not-json", "not-json", GRID),
    (
        "[[1,2], // the first\n [3,4]] ",
        "not-json",
        "not-json",
        GRID,
    ),
    (
        "[[1,2], # the first]\n [3,4]] ",
        "not-json",
        "not-json",
        GRID,
    ),
    ("[[01,2]]", "not-json", "not-json", "[[1,2]]"),
    ("1 2\n3 4", "no-bracket", "no-bracket", GRID),
    ("The grid is:\n\n12\n34\n", "no-bracket", "no-bracket", GRID),
    ("|1|2|\n|3|4|", "no-bracket", "no-bracket", GRID),
    (
        "| 1 | 2 |\n|---|---|\n| 3 | 4 |",
        "no-bracket",
        "no-bracket",
        GRID,
    ),
    ("[1,2]\n[3,4]", "not-a-grid", "not-a-grid", GRID),
    ("```\n1 2\n3 4\n```\n", "no-bracket", "no-bracket", GRID),
    (
        "1 2\n3 4\nThese are the rows.",
        "no-bracket",
        "no-bracket",
        "no-bracket",
    ),
    ("[[1,2],...,[3,4]]", "not-json", "not-json", "elided"),
    ("[[1,2],…,[3,4]]", "not-json", "not-json", "elided"),
    ("[1,2,3]", "not-a-grid", "not-a-grid", "[[1,2,3]]"),
    ("\\boxed{[1,2,3]}", "not-json", "not-json", "[[1,2,3]]"),
    (
        "I cannot say, see example [0].",
        "not-a-grid",
        "not-a-grid",
        "not-a-grid",
    ),
    ("", "empty", "empty", "empty"),
    (" \n ", "empty", "empty", "empty"),
    ("[[1,2],[3", "not-a-grid", "not-a-grid", "truncated"),
    (
        "[\n [1,2],\n [3,4],\n",
        "not-a-grid",
        "not-a-grid",
        "truncated",
    ),
    ("<think>perhaps [[1,2]]", "[[1,2]]", "[[1,2]]", "truncated"),
    (
        "［［１，２］，［３，４］］",
        "no-bracket",
        "no-bracket",
        GRID,
    ),
    ("［［1,2］］", "no-bracket", "no-bracket", "[[1,2]]"),
    ("[[7]] or [[1,2],[3,4]]", GRID, GRID, GRID),
    ("In [0, 5) it holds: [[1,2],[3,4]]", GRID, GRID, GRID),
    (
        "[array([1, 2]), array([3, 4])]",
        "not-json",
        "not-json",
        GRID,
    ),
    (
        "{\"output\": [[1,2],[3,4]], \"input\": [[5]]}",
        "not-a-grid",
        "not-a-grid",
        GRID,
    ),
    ("[1,12]\n[3,4]", "not-a-grid", "not-a-grid", "out-of-range"),
];

#[test]
fn parsers_give_the_expected_results() {
    for (text, nejumi, official, lenient) in TABLE {
        assert_eq!(shown(Parser::Lenient, text), *lenient, "lenient: {text}");
        assert_eq!(shown(Parser::Official, text), *official, "official: {text}");
        assert_eq!(shown(Parser::Nejumi, text), *nejumi, "nejumi: {text}");
    }
    let open = "[".repeat(50);
    assert_eq!(
        Parser::ALL.map(|parser| shown(parser, &open)),
        ["truncated"; 4]
    );
}

#[test]
fn plan_parser_takes_the_first_valid_json() {
    for (text, expected) in [
        ("[[1,2],[3,4]]", GRID),
        ("Here:\n```json\n[[1,2],[3,4]]\n```\nDone [x].", GRID),
        ("It is [[1,2],[3,4]] I think", GRID),
        ("[[1,2],[3,4]] (see example [0])", "not-json"),
        ("[[[1,2],[3,4]]]", "three-dimensional"),
        ("[[\"1\",\"2\"]]", "non-integer"),
        ("[[1.0,2]]", "[[1,2]]"),
        ("5", "not-a-grid"),
        ("none", "no-bracket"),
    ] {
        assert_eq!(shown(Parser::Plan, text), expected, "{text}");
    }
}

#[test]
fn whole_task_answer_is_a_list_of_grids() {
    let text = "The outputs are [[[1,2]],[[3]]].";
    for parser in [Parser::Lenient, Parser::Plan] {
        let answer = parse_whole_task(parser, text, 2).unwrap();
        assert_eq!(
            answer.grids.iter().map(Grid::to_string).collect::<Vec<_>>(),
            ["[[1,2]]", "[[3]]"]
        );
        assert_eq!(&text[answer.span], "[[[1,2]],[[3]]]");
        assert_eq!(
            parse_whole_task(parser, text, 3),
            Err(ParseError::Count {
                expected: 3,
                found: 2
            })
        );
        assert!(parse_whole_task(parser, "[[1,2]]", 2).is_err());
    }
}

#[test]
fn answer_has_its_source_and_span() {
    let source = |text: &str| {
        let answer = parse(Parser::Lenient, text).unwrap();
        (answer.source, text[answer.span].to_owned())
    };
    assert_eq!(
        source("é [[1]] then ［［2］］!"),
        (AnswerSource::LastGrid, "［［2］］".to_owned())
    );
    assert_eq!(
        source("\\boxed{\\text{so } [[1]]} and [[2]]"),
        (AnswerSource::Boxed, "[[1]]".to_owned())
    );
    assert_eq!(
        source("{'answer': [[1]]} and [[2]]"),
        (AnswerSource::Keyed, "[[1]]".to_owned())
    );
    assert_eq!(
        source("Answer: [1, 2]."),
        (AnswerSource::SingleRow, "[1, 2]".to_owned())
    );
    assert_eq!(
        source("Rows:\n1 2\n3 4\n"),
        (AnswerSource::TrailingLines, "1 2\n3 4".to_owned())
    );
}

#[test]
fn grids_of_maximum_size_are_accepted_and_larger_ones_rejected() {
    let grid = |height: usize, width: usize| {
        format!(
            "[{}]",
            vec![format!("[{}]", vec!["7"; width].join(", ")); height].join(", ")
        )
    };
    let lines = |height: usize, width: usize| vec![vec!["7"; width].join(" "); height].join("\n");
    for text in [grid(30, 30), lines(30, 30)] {
        assert_eq!(
            parse(Parser::Lenient, &text).unwrap().grids[0]
                .cells()
                .len(),
            900
        );
    }
    for text in [grid(31, 2), grid(2, 31), lines(31, 2), lines(2, 31)] {
        assert_eq!(shown(Parser::Lenient, &text), "too-large");
    }
}

#[test]
fn ten_megabytes_of_brackets_are_parsed() {
    const LENGTH: usize = 10 << 20;
    for part in [
        "[", "]", "[]", "[[1]]", "[1,", "([", "{", "\\boxed{", "<think>", "</think>", "[[1,2],",
        "1\n", "```", "\"", "[a[",
    ] {
        let text = part.repeat(LENGTH / part.len());
        for parser in Parser::ALL {
            let _ = parse(parser, &text);
        }
    }
    let nested = format!(
        "{}[[1,2]]{}",
        "[".repeat(LENGTH / 2),
        "]".repeat(LENGTH / 2)
    );
    assert_eq!(shown(Parser::Lenient, &nested), "three-dimensional");
    assert_eq!(
        parse(Parser::Lenient, &" ".repeat(MAX_ANSWER_BYTES + 1))
            .unwrap_err()
            .kind(),
        "too-long"
    );
}

proptest! {
    #[test]
    fn no_text_makes_a_parser_panic(text in "\\PC{0,200}") {
        for parser in Parser::ALL {
            for tests in 1..3 {
                check(parser, &text, tests);
            }
        }
    }

    #[test]
    fn no_combination_of_tokens_makes_a_parser_panic(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60)) {
        let text = pieces.concat();
        for parser in Parser::ALL {
            for tests in 1..3 {
                check(parser, &text, tests);
            }
        }
    }

    #[test]
    fn written_grid_is_parsed_back(
        (width, cells) in (1_usize..=30, 1_usize..=30).prop_flat_map(|(width, height)| {
            (Just(width), proptest::collection::vec(0_u8..=9, width * height))
        }),
    ) {
        let rows: Vec<Vec<u8>> = cells.chunks(width).map(<[u8]>::to_vec).collect();
        let grid = Grid::new(&rows).unwrap();
        for parser in Parser::ALL {
            prop_assert_eq!(&parse(parser, &grid.to_string()).unwrap().grids[0], &grid);
        }
    }
}

const PIECES: &[&str] = &[
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    " ",
    "\n",
    "1",
    "23",
    "-",
    ".",
    "...",
    "…",
    "\"",
    "'",
    "\\",
    "\\boxed{",
    "<think>",
    "</think>",
    "［",
    "］",
    "７",
    "|",
    "```",
    "json",
    "output",
    ":",
    "=",
    "//",
    "#",
    "NaN",
    "array(",
    "word",
    "é",
    "[[1,2],[3,4]]",
    "[1,2]",
];

/// Checks that a result has one grid for each test and a span within the text.
fn check(parser: Parser, text: &str, tests: usize) {
    if let Ok(answer) = parse_whole_task(parser, text, tests) {
        assert_eq!(answer.grids.len(), tests);
        assert!(text.get(answer.span).is_some());
    }
}
