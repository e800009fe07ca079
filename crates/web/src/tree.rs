//! JSON data as a collapsible tree that needs no script.

use rhae_report::Escaped;
use serde_json::Value;

/// Levels that are expanded initially.
const EXPANDED_LEVELS: usize = 2;

/// Renders a JSON value as nested lists.
pub(crate) fn tree(value: &Value) -> String {
    format!("<div class=\"tree\">{}</div>", node(None, value, 0))
}

fn node(name: Option<&str>, value: &Value, depth: usize) -> String {
    let name = name.map_or_else(String::new, |name| {
        format!("<span class=\"key\">{}</span> ", Escaped(name))
    });
    let (count, kind, children): (usize, &str, String) = match value {
        Value::Object(fields) => (
            fields.len(),
            "fields",
            fields
                .iter()
                .map(|(name, value)| item(Some(name), value, depth))
                .collect(),
        ),
        Value::Array(values) => {
            let indexed = values.iter().enumerate();
            (
                values.len(),
                "values",
                indexed
                    .map(|(at, value)| item(Some(&at.to_string()), value, depth))
                    .collect(),
            )
        }
        leaf => {
            return format!(
                "{name}<span class=\"leaf\">{}</span>",
                Escaped(&leaf.to_string())
            );
        }
    };
    let open = if depth < EXPANDED_LEVELS { " open" } else { "" };
    format!(
        "<details{open}><summary>{name}<span class=\"quiet\">{count} {kind}</span></summary><ul>{children}</ul></details>"
    )
}

fn item(name: Option<&str>, value: &Value, depth: usize) -> String {
    format!("<li>{}</li>", node(name, value, depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped() {
        let value =
            serde_json::json!({"<b>": ["</ul><script>alert(1)</script>", 1.5, null], "a": {}});
        let html = tree(&value);
        assert!(!html.contains("<script") && !html.contains("<b>"));
        assert!(
            html.contains("1.5")
                && html.contains("null")
                && html.contains("3 values")
                && html.contains("0 fields")
        );
    }
}
