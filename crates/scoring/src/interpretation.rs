//! What the publications of the scoring methods say about a score.

use crate::Method;

/// A row of a published table: the scores in percent to which it applies, as the table writes them,
/// and its text.
struct Row {
    from: f64,
    to: f64,
    text: &'static str,
}

/// The table of the benchmark's documentation, lowest scores first.
const DOCS: &[Row] = &[
    Row {
        from: 0.0,
        to: 0.0,
        text: "0%: AI never completes a level across any game",
    },
    Row {
        from: 1.0,
        to: 99.999_999_999,
        text: "1-99%: A mixture of level completion rates and efficiency relative to human baseline",
    },
    Row {
        from: 100.0,
        to: f64::INFINITY,
        text: "100%: AI completes all games/levels while matching or surpassing human efficiency",
    },
];

/// The list of the scoring draft of 2025, lowest scores first. `25%` and `~1%` stand for scores that
/// round to them.
const DRAFT: &[Row] = &[
    Row {
        from: 0.0,
        to: 0.0,
        text: "0%: Agent never completes a level across any game",
    },
    Row {
        from: 0.5,
        to: 1.5,
        text: "~1%: AI may have completed a few levels, but inefficiently",
    },
    Row {
        from: 24.5,
        to: 25.5,
        text: "25%: Inconsistent performance",
    },
    Row {
        from: 75.000_000_001,
        to: 99.999_999_999,
        text: ">75%: Strong, AI almost always succeeds and rarely more than ~33% less efficient than the human baseline",
    },
    Row {
        from: 100.0,
        to: f64::INFINITY,
        text: "100%: AI completes all games/levels while matching or surpasses human baseline efficiency",
    },
];

impl Method {
    /// Returns what the publication says about a score, given as a fraction. A score between two
    /// published rows gets both. The paper contains no such table, so the documentation's applies.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_scoring::Method;
    ///
    /// let text = Method::Docs202604.interpretation(0.0);
    /// assert_eq!(text, "“0%: AI never completes a level across any game”");
    /// let text = Method::Draft2025.interpretation(0.25);
    /// assert_eq!(text, "“25%: Inconsistent performance”");
    /// assert!(Method::Docs202604.interpretation(0.0033).starts_with("between “0%: "));
    /// ```
    pub fn interpretation(self, score: f64) -> String {
        let rows = match self {
            Self::Draft2025 => DRAFT,
            Self::Paper202603 | Self::Docs202604 => DOCS,
        };
        let percent = 100.0 * score;
        let next = rows
            .iter()
            .position(|row| percent <= row.to)
            .unwrap_or(rows.len() - 1);
        let row = &rows[next];
        match next.checked_sub(1).map(|before| &rows[before]) {
            Some(before) if percent < row.from => {
                format!("between “{}” and “{}”", before.text, row.text)
            }
            _ => format!("“{}”", row.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_has_an_interpretation() {
        let starts = |method: Method, percents: &[f64]| -> Vec<String> {
            let first = |percent: &f64| {
                let text = method.interpretation(percent / 100.0);
                text.split(':').next().unwrap_or_default().to_owned()
            };
            percents.iter().map(first).collect()
        };
        assert_eq!(
            starts(Method::Docs202604, &[0.0, 0.3, 1.0, 50.0, 99.5, 100.0]),
            ["“0%", "between “0%", "“1-99%", "“1-99%", "“1-99%", "“100%"]
        );
        assert_eq!(
            starts(
                Method::Draft2025,
                &[0.0, 0.2, 1.2, 10.0, 25.0, 60.0, 75.0, 80.0, 100.0]
            ),
            [
                "“0%",
                "between “0%",
                "“~1%",
                "between “~1%",
                "“25%",
                "between “25%",
                "between “25%",
                "“>75%",
                "“100%"
            ]
        );
        assert_eq!(starts(Method::Paper202603, &[0.0, 42.0]), ["“0%", "“1-99%"]);
    }
}
