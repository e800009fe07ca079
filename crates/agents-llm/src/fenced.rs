//! Tool calls as fenced blocks, for models without native tool calls.
//!
//! The model writes a block whose info string is `tool`, with a JSON object in it:
//!
//! ````text
//! ```tool
//! {"name": "grep", "arguments": {"pattern": "score 1"}}
//! ```
//! ````
//!
//! A block with the info string `python` calls the tool `python` with the block as its code, because
//! models write code in JSON strings badly.

use rhae_llm::{Part, Tool, ToolCall, ToolResult};
use serde_json::{Value, json};

/// Describes tools for the system prompt.
pub(crate) fn description(tools: &[Tool]) -> String {
    let mut text = String::from(
        "\n\n# Tools\n\nTo call a tool, write a fenced block of this form and end your reply after it:\n\n\
         ```tool\n{\"name\": \"NAME\", \"arguments\": {…}}\n```\n\n\
         The result follows in the next message. A reply without such a block is your answer.\n",
    );
    if tools.iter().any(|tool| tool.name == "python") {
        text.push_str(
            "A fenced block with the info string `python` calls the tool `python` with that code.\n",
        );
    }
    for tool in tools {
        text.push_str(&format!(
            "\n## {}\n\n{}\n\nArguments: {}\n",
            tool.name, tool.description, tool.parameters
        ));
    }
    text
}

/// Returns the calls in a reply, in order. A block that is not valid JSON is a call with the text as
/// its arguments, so that the model learns about its mistake.
pub(crate) fn calls(text: &str, tools: &[Tool]) -> Vec<ToolCall> {
    let has_python = tools.iter().any(|tool| tool.name == "python");
    let call = |(number, (info, content)): (usize, (&str, &str))| {
        let id = format!("block-{number}");
        match info {
            "python" => ToolCall {
                id,
                name: "python".to_owned(),
                arguments: json!({"code": content}),
            },
            _ => tool_block(id, content),
        }
    };
    let is_call = |(info, _): &(&str, &str)| *info == "tool" || (*info == "python" && has_python);
    blocks(text)
        .into_iter()
        .filter(is_call)
        .enumerate()
        .map(call)
        .collect()
}

/// Returns the results of calls as the parts of a message.
pub(crate) fn results(results: &[ToolResult]) -> Vec<Part> {
    let part = |result: &ToolResult| {
        let kind = if result.is_error { "Error" } else { "Result" };
        Part::text(format!(
            "{kind} of `{}`:\n```\n{}\n```",
            result.name,
            result.output.replace("```", "'''")
        ))
    };
    results.iter().map(part).collect()
}

fn tool_block(id: String, content: &str) -> ToolCall {
    let value: Value =
        serde_json::from_str(content).unwrap_or_else(|_| Value::String(content.to_owned()));
    match value["name"].as_str() {
        Some(name) => ToolCall {
            id,
            name: name.to_owned(),
            arguments: match &value["arguments"] {
                Value::Null => json!({}),
                arguments => arguments.clone(),
            },
        },
        None => ToolCall {
            id,
            name: "tool".to_owned(),
            arguments: value,
        },
    }
}

/// Returns the info string and the content of each fenced block. A block that is not closed extends
/// to the end of the text.
pub(crate) fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = fence(rest) {
        let after = &rest[start + 3..];
        let (info, content) = after.split_once('\n').unwrap_or((after, ""));
        let end = fence(content);
        found.push((info.trim(), &content[..end.unwrap_or(content.len())]));
        let Some(end) = end else {
            break;
        };
        let closing = &content[end..];
        rest = closing.split_once('\n').map_or("", |(_, rest)| rest);
    }
    found
}

/// Returns the start of the first line that begins with three backticks.
fn fence(text: &str) -> Option<usize> {
    if text.starts_with("```") {
        Some(0)
    } else {
        text.find("\n```").map(|newline| newline + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<Tool> {
        vec![
            Tool::new("grep", "Searches.", &[]),
            Tool::new("python", "Runs code.", &[]),
        ]
    }

    #[test]
    fn blocks_become_calls() {
        let text = "I look.\n```tool\n{\"name\": \"grep\", \"arguments\": {\"pattern\": \"x\"}}\n```\nand\n```python\nprint(1)\nprint(2)\n```\n```json\n[1]\n```";
        let calls = calls(text, &tools());
        let found: Vec<(&str, &Value)> = calls
            .iter()
            .map(|call| (call.name.as_str(), &call.arguments))
            .collect();
        assert_eq!(
            found,
            [
                ("grep", &json!({"pattern": "x"})),
                ("python", &json!({"code": "print(1)\nprint(2)\n"}))
            ]
        );
        assert_ne!(calls[0].id, calls[1].id);
    }

    #[test]
    fn unclosed_and_malformed_blocks_are_calls_too() {
        let open = calls("```python\nprint(1)", &tools());
        assert_eq!(open[0].arguments, json!({"code": "print(1)"}));
        let malformed = calls("```tool\n{\"name\": \n```", &tools());
        assert_eq!(malformed[0].name, "tool");
        assert!(malformed[0].arguments.is_string());
        assert!(calls("no block ``` here", &tools()).is_empty());
        assert!(calls("```python\nx\n```", &tools()[..1]).is_empty());
        assert!(calls("```", &tools()).is_empty());
    }

    #[test]
    fn result_cannot_close_its_block() {
        let result = ToolResult {
            id: "1".to_owned(),
            name: "grep".to_owned(),
            output: "a\n```\nb".to_owned(),
            is_error: true,
        };
        assert_eq!(
            results(&[result]),
            [Part::text("Error of `grep`:\n```\na\n'''\nb\n```")]
        );
        assert!(description(&tools()).contains("## grep"));
    }
}
