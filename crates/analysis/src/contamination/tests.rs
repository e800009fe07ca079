use super::*;

fn run(texts: &[String], given: &str) -> ContaminationReport {
    let all = texts.iter().enumerate().map(|(number, text)| Transcript {
        name: format!("reply {number}"),
        text: text.clone(),
    });
    report(&Transcripts {
        run_id: "run".to_owned(),
        agent: "model:test".to_owned(),
        palette: Palette::Static,
        all: all.collect(),
        without_text: 0,
        given: given.to_owned(),
        task_ids: vec!["007bbfb7".to_owned()],
        notes: Vec::new(),
    })
}

/// A small generator, so that the texts depend on nothing but a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Returns a text as a model without knowledge of the mapping could write it: it names some colours by
/// an arbitrary mapping, and mentions positions and counts.
fn clean(random: &mut Random) -> String {
    let names = [
        "blue", "red", "green", "yellow", "gray", "magenta", "orange", "azure", "maroon",
    ];
    let mut values: Vec<usize> = (1..=9).collect();
    for last in (1..values.len()).rev() {
        values.swap(last, random.below(last + 1));
    }
    let mut text = String::from("The output repeats the input. ");
    for _ in 0..random.below(12) {
        let color = random.below(9);
        let (name, value) = (names[color], values[color]);
        let (row, count) = (random.below(30), 1 + random.below(9));
        text += &match random.below(6) {
            0 => format!("The {name} ({value}) cells move right. "),
            1 => format!("I treat {value} as {name}. "),
            2 => format!("{value}={name}; "),
            3 => format!("Row {row} is {name}. "),
            4 => format!("There are {count} {name} cells. "),
            _ => format!("{name}: {count} squares. "),
        };
    }
    text
}

#[test]
fn at_most_one_percent_of_clean_transcripts_are_flagged() {
    for seed in [1, 2, 3] {
        let mut random = Random(seed);
        let texts: Vec<String> = (0..1000).map(|_| clean(&mut random)).collect();
        let report = run(&texts, "");
        assert_eq!(report.transcripts, 1000);
        assert!(report.flagged <= 10, "{}", report.flagged);
        assert!(report.colors.named > 2000, "{}", report.colors.named);
        assert!(report.colors.p_binomial > 0.05);
    }
}

#[test]
fn planted_knowledge_is_found() {
    let mut random = Random(7);
    let mut texts: Vec<String> = (0..97).map(|_| clean(&mut random)).collect();
    texts.push("Target is Green (3). Pattern is Magenta (6) solid on Orange (7).".to_owned());
    texts.push("This is the ARC-AGI task with the fractal.".to_owned());
    texts.push("I remember this one: 007bbfb7.".to_owned());
    let report = run(&texts, "");
    let kinds: BTreeSet<&str> = report
        .examples
        .iter()
        .filter(|example| {
            let number: usize = example.transcript["reply ".len()..].parse().unwrap();
            number >= 97
        })
        .map(|example| example.kind.name())
        .collect();
    assert_eq!(kinds, BTreeSet::from(["color", "dataset", "task-id"]));
    assert!(report.by_knowledge.colors >= 1);
    assert_eq!(report.by_knowledge.datasets, 1);
    assert_eq!(report.by_knowledge.task_ids, 1);
}

#[test]
fn a_model_with_the_published_mapping_has_a_small_p() {
    let texts = vec!["Blue (1), red (2), green (3), 4 = yellow, 5: gray.".to_owned(); 20];
    let report = run(&texts, "");
    assert_eq!(report.flagged, 20);
    assert_eq!((report.colors.named, report.colors.right), (100, 100));
    // Five right names of nine: 4! / 9! of all mappings, and those with more right ones.
    assert_eq!(report.colors.p_one_mapping, random_matches_p(5, 5, 9));
    assert!(report.colors.p_binomial < 1e-30);
}

#[test]
fn one_lucky_colour_in_every_transcript_is_no_evidence() {
    let texts = vec!["Blue (1) moves.".to_owned(); 50];
    let report = run(&texts, "");
    assert_eq!(report.flagged, 0);
    assert_eq!(report.colors.p_one_mapping, 1.0 / 9.0);
}

#[test]
fn what_the_prompt_gives_is_not_knowledge() {
    let text = "Green (3), magenta (6), orange (7) of ARC-AGI task 007bbfb7.".to_owned();
    let given = "Colors: 3 is green, 6 is magenta, 7 is orange. Solve the ARC-AGI task 007bbfb7.";
    assert_eq!(run(std::slice::from_ref(&text), given).flagged, 0);
    assert_eq!(run(&[text], "").flagged, 1);
}

#[test]
fn excerpt_is_one_line_around_the_knowledge() {
    let text = format!(
        "{}\nso it is\nGreen (3) here{}",
        "ä".repeat(100),
        "ö".repeat(100)
    );
    let at = text.find("Green").unwrap();
    let shown = excerpt(&text, &(at..at + 9));
    assert!(shown.contains("so it is Green (3) here"), "{shown}");
    assert!(shown.chars().count() < 100);
}
