//! JSON data as a collapsible tree that needs no script.

use askama::Template;
use askama::filters::HtmlSafe;
use serde_json::Value;

/// Levels that are expanded initially.
const EXPANDED_LEVELS: usize = 2;

/// A JSON value as nested lists.
#[derive(Template)]
#[template(path = "tree_node.html")]
pub(crate) struct TreeNode<'a> {
    /// The name of a field or the index of an item.
    name: Option<String>,
    content: Content<'a>,
    /// Whether the list is expanded initially.
    open: bool,
}

enum Content<'a> {
    Leaf(&'a Value),
    /// `fields` or `values`, and the nodes.
    List(&'static str, Vec<TreeNode<'a>>),
}

/// The template escapes names and values.
impl HtmlSafe for TreeNode<'_> {}

impl<'a> TreeNode<'a> {
    pub(crate) fn new(value: &'a Value) -> Self {
        Self::at(0, None, value)
    }

    fn at(depth: usize, name: Option<String>, value: &'a Value) -> Self {
        let child = |name: String, value| Self::at(depth + 1, Some(name), value);
        let content = match value {
            Value::Object(fields) => {
                let fields = fields.iter();
                Content::List(
                    "fields",
                    fields
                        .map(|(name, value)| child(name.clone(), value))
                        .collect(),
                )
            }
            Value::Array(values) => {
                let values = values.iter().enumerate();
                Content::List(
                    "values",
                    values
                        .map(|(at, value)| child(at.to_string(), value))
                        .collect(),
                )
            }
            leaf => Content::Leaf(leaf),
        };
        Self {
            name,
            content,
            open: depth < EXPANDED_LEVELS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped() {
        let value =
            serde_json::json!({"<b>": ["</ul><script>alert(1)</script>", 1.5, null], "a": {}});
        let html = TreeNode::new(&value).to_string();
        assert!(!html.contains("<script") && !html.contains("<b>"));
        assert!(
            html.contains("1.5")
                && html.contains("null")
                && html.contains("3 values")
                && html.contains("0 fields")
        );
    }
}
