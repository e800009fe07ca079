//! From a template's text to its pieces.

use super::Form;

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Test(Form),
    Task,
    Count,
    Examples(Vec<Piece>),
    Input(Form),
    Output(Form),
    Index,
    Number,
}

/// Cuts a template into pieces; a fault is named with its line.
pub(crate) fn parse(text: &str) -> Result<Vec<Piece>, String> {
    let mut all: Vec<Piece> = Vec::new();
    let mut examples: Option<Vec<Piece>> = None;
    let mut rest = text;
    loop {
        let Some(at) = rest.find("{{") else {
            push(&mut all, &mut examples, rest);
            break;
        };
        push(&mut all, &mut examples, &rest[..at]);
        let line = text[..text.len() - rest.len() + at].matches('\n').count() + 1;
        let Some(end) = rest[at..].find("}}") else { return Err(format!("line {line}: `{{{{` is never closed")) };
        let name = rest[at + 2..at + end].trim();
        rest = &rest[at + end + 2..];
        match name {
            "#examples" if examples.is_none() => examples = Some(Vec::new()),
            "/examples" => match examples.take() {
                Some(inner) => all.push(Piece::Examples(inner)),
                None => return Err(format!("line {line}: `{{{{/examples}}}}` has no beginning")),
            },
            _ => {
                let piece = piece(name).ok_or_else(|| format!("line {line}: `{{{{{name}}}}}` is not known"))?;
                let of_a_pair = matches!(piece, Piece::Input(_) | Piece::Output(_) | Piece::Index | Piece::Number);
                match (&mut examples, of_a_pair) {
                    (Some(inner), true) => inner.push(piece),
                    (None, false) => all.push(piece),
                    (Some(_), false) => return Err(format!("line {line}: `{{{{{name}}}}}` does not belong into the examples")),
                    (None, true) => {
                        return Err(format!(
                            "line {line}: `{{{{{name}}}}}` belongs between `{{{{#examples}}}}` and `{{{{/examples}}}}`"
                        ));
                    }
                }
            }
        }
    }
    if examples.is_some() {
        return Err("`{{#examples}}` is never closed".to_owned());
    }
    Ok(all)
}

fn push(all: &mut Vec<Piece>, examples: &mut Option<Vec<Piece>>, text: &str) {
    if !text.is_empty() {
        examples.as_mut().unwrap_or(all).push(Piece::Text(text.to_owned()));
    }
}

fn piece(name: &str) -> Option<Piece> {
    let (what, form) = match name.split_once('|') {
        Some((what, form)) => (what.trim(), Form::named(form.trim())?),
        None => (name, Form::Json),
    };
    let plain = !name.contains('|');
    match what {
        "test" => Some(Piece::Test(form)),
        "input" => Some(Piece::Input(form)),
        "output" => Some(Piece::Output(form)),
        "task" if plain => Some(Piece::Task),
        "count" if plain => Some(Piece::Count),
        "index" if plain => Some(Piece::Index),
        "number" if plain => Some(Piece::Number),
        _ => None,
    }
}
