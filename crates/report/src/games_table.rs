//! Environments and their facts as plain text for a terminal.

use std::fmt::Write as _;

use rhae_engine::ActionKind;
use rhae_protocol::GameFacts;

/// Formats a list of environments, one line each.
pub fn games_table(games: &[GameFacts]) -> String {
    // A long id or tag must not shift the columns of its line.
    let width = |least: usize, length: fn(&GameFacts) -> usize| {
        games.iter().map(length).fold(least, usize::max)
    };
    let ids = width(11, |game| game.game_id.chars().count());
    let tags = width(14, |game| game.tags.join(",").chars().count());
    let mut text = format!(
        "{:<ids$}  levels  actions        {:<tags$}  baselines (* = provisional)\n",
        "environment", "tags"
    );
    for game in games {
        let actions: Vec<String> = game.actions.iter().map(u8::to_string).collect();
        let baselines: Vec<String> = (0..game.baseline_actions.len())
            .map(|level| {
                let mark = if game.is_provisional(level) { "*" } else { "" };
                format!("{}{mark}", game.baseline_actions[level])
            })
            .collect();
        let _ = writeln!(
            text,
            "{:<ids$}  {:>6}  {:<13}  {:<tags$}  {}",
            game.game_id,
            game.levels
                .map_or_else(|| "?".to_owned(), |levels| levels.to_string()),
            actions.join(" "),
            game.tags.join(","),
            baselines.join(" ")
        );
    }
    text
}

/// Formats the facts of one environment. `sandbox` describes the isolation of a hosted game.
pub fn game_text(game: &GameFacts, sandbox: Option<&str>) -> String {
    let actions: Vec<&str> = game
        .actions
        .iter()
        .filter_map(|&id| ActionKind::from_id(id))
        .map(ActionKind::name)
        .collect();
    let mut text = format!(
        "{}\nactions: {}\ntags: {}\n",
        game.game_id,
        actions.join(", "),
        game.tags.join(", ")
    );
    if let Some(folder) = &game.folder {
        let _ = writeln!(text, "folder: {}", crate::plain(folder));
    }
    if let Some(digest) = &game.source_digest {
        let _ = writeln!(text, "source: SHA-256 {}", crate::plain(digest));
    }
    if let Some(sandbox) = sandbox {
        let _ = writeln!(text, "sandbox: {}", crate::plain(sandbox));
    }
    if game.seeded {
        text.push_str("levels depend on the seed; baselines and scores are for seed 0\n");
    }
    if game.baseline_actions.is_empty() {
        if let Some(levels) = game.levels {
            let _ = writeln!(text, "levels: {levels}");
        }
        text.push_str("baselines: none, so plays have no score\n");
        return text;
    }
    text.push_str("\nlevel  baseline  source\n");
    let baselines = game.baseline_actions.iter().zip(&game.baseline_source);
    for (index, (count, source)) in baselines.enumerate() {
        let _ = writeln!(text, "{:>5}  {count:>8}  {source}", index + 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> GameFacts {
        GameFacts {
            game_id: "ab12-v1".to_owned(),
            title: "ab12".to_owned(),
            levels: Some(2),
            actions: vec![1, 6],
            tags: vec!["keys".to_owned(), "click".to_owned()],
            baseline_actions: vec![10, 12],
            baseline_source: vec!["solver".to_owned(), "humans".to_owned()],
            default_fps: 20,
            seeded: true,
            folder: Some("a\x1bb".to_owned()),
            source_digest: None,
        }
    }

    #[test]
    fn provisional_baselines_are_marked() {
        let table = games_table(&[facts()]);
        assert!(
            table.ends_with("ab12-v1           2  1 6            keys,click      10* 12\n"),
            "{table}"
        );
    }

    #[test]
    fn columns_are_aligned_whatever_the_lengths_of_ids_and_tags() {
        let long = GameFacts {
            game_id: "ab12-9f8e7d6c5b4a39281706".to_owned(),
            tags: vec!["keyboard".to_owned(), "click".to_owned(), "undo".to_owned()],
            ..facts()
        };
        let table = games_table(&[facts(), long]);
        let columns: Vec<Vec<usize>> = ["10* 12", "1 6 "]
            .map(|cell| {
                table
                    .lines()
                    .skip(1)
                    .map(|line| line.find(cell).unwrap())
                    .collect()
            })
            .to_vec();
        assert!(columns.iter().all(|at| at[0] == at[1]), "{table}");
        let header = table.lines().next().unwrap();
        assert_eq!(header.find("baselines"), Some(columns[0][0]), "{table}");
    }

    #[test]
    fn facts_of_a_hosted_game_name_its_folder_and_sandbox() {
        let text = game_text(&facts(), Some("none"));
        assert!(text.contains("actions: ACTION1, ACTION6\n"), "{text}");
        assert!(
            text.contains("folder: a\u{FFFD}b\nsandbox: none\n"),
            "{text}"
        );
        assert!(text.ends_with(
            "level  baseline  source\n    1        10  solver\n    2        12  humans\n"
        ));
    }
}
