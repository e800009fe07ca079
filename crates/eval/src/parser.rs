//! The serialised form of parsers.

use rhae_protocol::EvalParser;
use rhae_tasks::Parser;

/// Returns the parser that a configuration names.
///
/// ```
/// use rhae_eval::parser_of;
/// use rhae_protocol::EvalParser;
/// use rhae_tasks::Parser;
///
/// assert_eq!(parser_of(EvalParser::Nejumi), Parser::Nejumi);
/// ```
pub const fn parser_of(parser: EvalParser) -> Parser {
    match parser {
        EvalParser::Lenient => Parser::Lenient,
        EvalParser::Official => Parser::Official,
        EvalParser::Nejumi => Parser::Nejumi,
        EvalParser::Plan => Parser::Plan,
    }
}

/// Returns the serialised form of a parser.
pub(crate) const fn serialised_parser(parser: Parser) -> EvalParser {
    match parser {
        Parser::Lenient => EvalParser::Lenient,
        Parser::Official => EvalParser::Official,
        Parser::Nejumi => EvalParser::Nejumi,
        Parser::Plan => EvalParser::Plan,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parser_is_serialised_by_its_name() {
        for parser in Parser::ALL {
            let serialised = serialised_parser(parser);
            assert_eq!(parser_of(serialised), parser);
            assert_eq!(serialised.name(), parser.name());
            let text = serde_json::to_string(&serialised).unwrap();
            assert_eq!(text, format!("\"{}\"", parser.name()));
        }
    }
}
