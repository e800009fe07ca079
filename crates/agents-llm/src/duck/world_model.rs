//! The model of the world that the model writes as text: seven labelled sections.

use std::collections::BTreeMap;

/// The labels, in the order of the prompt.
const LABELS: [&str; 7] = [
    "WORLD",
    "GOAL",
    "ACTION MODEL",
    "FINDINGS",
    "QUESTIONS",
    "PLAN",
    "CROSS-LEVEL NOTES",
];
/// The characters of one section that are carried to the next turn.
const MAX_SECTION_CHARS: usize = 4_000;

/// The last version of each section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorldModel {
    sections: BTreeMap<usize, String>,
}

impl WorldModel {
    /// Replaces the sections that a reply contains. Sections that it leaves out stay.
    pub(super) fn revise(&mut self, reply: &str) {
        let mut current: Option<usize> = None;
        let mut found: BTreeMap<usize, String> = BTreeMap::new();
        for line in reply.lines() {
            if let Some((label, rest)) = labelled(line) {
                current = Some(label);
                found.insert(label, rest.to_owned());
            } else if let Some(section) = current.and_then(|label| found.get_mut(&label)) {
                section.push('\n');
                section.push_str(line);
            }
        }
        for (label, text) in found {
            let text: String = text.trim().chars().take(MAX_SECTION_CHARS).collect();
            if !text.is_empty() {
                self.sections.insert(label, text);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Returns all sections as text.
    pub(super) fn text(&self) -> String {
        let section = |(label, text): (&usize, &String)| format!("{}: {text}", LABELS[*label]);
        let sections: Vec<String> = self.sections.iter().map(section).collect();
        sections.join("\n")
    }

    /// Returns the section `PLAN`.
    pub(super) fn plan(&self) -> Option<&str> {
        self.sections.get(&5).map(String::as_str)
    }
}

/// Returns the label at the start of a line, and the rest of the line. Markdown around the label is
/// ignored, as in `**GOAL:** …` and `## GOAL`.
fn labelled(line: &str) -> Option<(usize, &str)> {
    let bare = line.trim_start_matches(|letter: char| !letter.is_ascii_alphanumeric());
    // A longer label comes first, because no label is a prefix of another one.
    LABELS.iter().enumerate().find_map(|(number, label)| {
        let start = bare.get(..label.len())?;
        let rest = &bare[label.len()..];
        let ends = rest.is_empty() || rest.starts_with([':', '*']);
        let is_label = start == *label && ends;
        is_label.then(|| (number, rest.trim_start_matches([':', '*', ' '])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_revised_and_kept() {
        let mut model = WorldModel::default();
        model.revise("Hello.\nWORLD: a wall\nand a door\n**GOAL:** reach it\n## PLAN\ngo up\n");
        assert_eq!(
            model.text(),
            "WORLD: a wall\nand a door\nGOAL: reach it\nPLAN: go up"
        );
        model.revise("GOAL: push it\nPLAN:\n");
        assert_eq!(
            model.text(),
            "WORLD: a wall\nand a door\nGOAL: push it\nPLAN: go up"
        );
        assert_eq!(model.plan(), Some("go up"));
        model.revise("no label; GOALS: none\nPLANS: none\nWörld");
        assert!(model.text().contains("GOAL: push it"));
        model.revise(&format!("WORLD: {}", "ä".repeat(9_000)));
        assert!(model.text().chars().count() < 4_100);
    }
}
