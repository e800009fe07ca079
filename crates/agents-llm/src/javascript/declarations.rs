//! Turns the declarations at the top level of a code block into global variables.
//!
//! A block is executed as the body of a function, because it may contain `await` and `return`. Its
//! variables would be gone afterwards. As in an interactive session, a variable that is declared at
//! the top level must remain, and may be declared again.
//!
//! | code | becomes |
//! | --- | --- |
//! | `const a = 1, b = 2` | `a = 1, b = 2` |
//! | `let a` | `a = undefined` |
//! | `const {a, b} = f()` | `0, {a, b} = f()` |
//! | `function f() {}` | `globalThis.f = f;` at the start, and the declaration itself |
//! | `class C {}` | `C = class C {};` |
//!
//! Only the tokens of the code are read, not its grammar. Code that is not valid stays invalid, and
//! the engine reports it.

/// Words after which an expression begins.
const OPERATOR_WORDS: [&str; 14] = [
    "await",
    "case",
    "delete",
    "do",
    "else",
    "in",
    "instanceof",
    "new",
    "of",
    "return",
    "throw",
    "typeof",
    "void",
    "yield",
];

/// Returns the code with its top-level declarations turned into global variables.
pub(super) fn global_declarations(code: &str) -> String {
    let tokens = Scanner { code, at: 0 }.tokens();
    let mut edits = Edits::default();
    let mut depth = 0_usize;
    let mut class: Option<ClassBody> = None;
    for (index, token) in tokens.iter().enumerate() {
        let text = token.text(code);
        if depth == 0 && token.kind == Kind::Word {
            match text {
                "const" | "var" => declaration(code, &tokens, index, &mut edits),
                "let" if starts_binding(code, tokens.get(index + 1)) => {
                    declaration(code, &tokens, index, &mut edits);
                }
                "function"
                    if starts_statement(code, &tokens, function_start(code, &tokens, index)) =>
                {
                    if let Some(name) = function_name(code, &tokens, index) {
                        edits
                            .prefix
                            .push_str(&format!("globalThis.{name} = {name};"));
                    }
                }
                "class" if starts_statement(code, &tokens, index) => {
                    let name = tokens.get(index + 1).filter(|next| next.kind == Kind::Word);
                    if let Some(name) = name {
                        edits.insert(token.start, format!("{} = ", name.text(code)));
                        class = Some(ClassBody::Expected);
                    }
                }
                _ => {}
            }
        }
        match text {
            "(" | "[" | "{" if token.kind == Kind::Mark => {
                if text == "{" && depth == 0 && class == Some(ClassBody::Expected) {
                    class = Some(ClassBody::Open);
                }
                depth += 1;
            }
            ")" | "]" | "}" if token.kind == Kind::Mark => {
                depth = depth.saturating_sub(1);
                if depth == 0 && text == "}" && class == Some(ClassBody::Open) {
                    edits.insert(token.end, ";".to_owned());
                    class = None;
                }
            }
            _ => {}
        }
    }
    edits.apply(code)
}

/// The body of a class declaration.
#[derive(Clone, Copy, PartialEq)]
enum ClassBody {
    Expected,
    Open,
}

/// Changes of a text.
#[derive(Default)]
struct Edits {
    prefix: String,
    /// The start and end of a range, and what replaces it, in order.
    replaced: Vec<(usize, usize, String)>,
}

impl Edits {
    fn insert(&mut self, at: usize, text: String) {
        self.replaced.push((at, at, text));
    }

    fn apply(mut self, code: &str) -> String {
        self.replaced.sort_by_key(|(start, _, _)| *start);
        let mut result = self.prefix;
        let mut at = 0;
        for (start, end, text) in self.replaced {
            result.push_str(&code[at..start]);
            result.push_str(&text);
            at = end;
        }
        result.push_str(&code[at..]);
        result
    }
}

/// Rewrites the declaration whose keyword is token `keyword`.
fn declaration(code: &str, tokens: &[Token], keyword: usize, edits: &mut Edits) {
    let Some(first) = tokens.get(keyword + 1) else {
        return;
    };
    let is_pattern = matches!(first.text(code), "{" | "[");
    let replacement = if is_pattern { "0," } else { "" };
    let Token { start, end, .. } = tokens[keyword];
    edits.replaced.push((start, end, replacement.to_owned()));
    let mut at = keyword + 1;
    while let Some(binding) = tokens.get(at) {
        let is_word = binding.kind == Kind::Word;
        let next = tokens.get(at + 1);
        if is_word && next.is_none_or(|next| next.text(code) != "=") {
            edits.insert(binding.end, " = undefined".to_owned());
        }
        match end_of_declarator(code, tokens, at) {
            Some(next) => at = next,
            None => return,
        }
    }
}

/// Returns the token after the comma that ends the declarator at `at`, or `None` if it is the last
/// one.
fn end_of_declarator(code: &str, tokens: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for index in at..tokens.len() {
        let token = &tokens[index];
        let text = token.text(code);
        if depth == 0 && index > at && ends_statement_before(code, tokens, index) {
            return None;
        }
        if token.kind != Kind::Mark {
            continue;
        }
        match text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            "," if depth == 0 => return Some(index + 1),
            ";" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Returns whether a line break before a token ends the statement.
fn ends_statement_before(code: &str, tokens: &[Token], index: usize) -> bool {
    let token = &tokens[index];
    let continues = match token.kind {
        Kind::Word => matches!(token.text(code), "in" | "instanceof"),
        Kind::Literal => code[token.start..].starts_with('`'),
        Kind::Mark => token.text(code) != "{",
    };
    token.after_newline && !continues && index > 0 && ends_operand(code, &tokens[index - 1])
}

/// Returns whether an expression can end with a token.
fn ends_operand(code: &str, token: &Token) -> bool {
    match token.kind {
        Kind::Word => !OPERATOR_WORDS.contains(&token.text(code)),
        Kind::Literal => true,
        Kind::Mark => matches!(token.text(code), ")" | "]" | "}"),
    }
}

/// Returns whether a statement starts with the token `index`.
fn starts_statement(code: &str, tokens: &[Token], index: usize) -> bool {
    match index.checked_sub(1).map(|before| &tokens[before]) {
        None => true,
        Some(before) => {
            matches!(before.text(code), ";" | "}")
                || (tokens[index].after_newline && ends_operand(code, before))
        }
    }
}

/// Returns the first token of the function whose keyword is token `index`.
fn function_start(code: &str, tokens: &[Token], index: usize) -> usize {
    match index.checked_sub(1) {
        Some(before) if tokens[before].text(code) == "async" => before,
        _ => index,
    }
}

fn function_name<'a>(code: &'a str, tokens: &[Token], index: usize) -> Option<&'a str> {
    let mut rest = tokens[index + 1..].iter().peekable();
    rest.next_if(|token| token.text(code) == "*");
    let name = rest.next()?;
    (name.kind == Kind::Word).then(|| name.text(code))
}

/// Returns whether `let` before this token is a declaration and not a name.
fn starts_binding(code: &str, token: Option<&Token>) -> bool {
    token.is_some_and(|token| token.kind == Kind::Word || matches!(token.text(code), "{" | "["))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A name or a keyword.
    Word,
    /// A number, a string, a template or a regular expression.
    Literal,
    /// One character of an operator, or a bracket.
    Mark,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
    /// Whether a line break comes before it.
    after_newline: bool,
}

impl Token {
    fn text<'a>(&self, code: &'a str) -> &'a str {
        &code[self.start..self.end]
    }
}

/// Divides code into tokens.
struct Scanner<'a> {
    code: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn tokens(mut self) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        while let Some(token) = self.next(tokens.last()) {
            tokens.push(token);
        }
        tokens
    }

    /// Returns the next token. `last` is the one before it.
    fn next(&mut self, last: Option<&Token>) -> Option<Token> {
        let after_newline = self.skip_blanks();
        let start = self.at;
        let first = self.rest().chars().next()?;
        let kind = match first {
            '"' | '\'' => {
                self.skip_string(first);
                Kind::Literal
            }
            '`' => {
                self.skip_template();
                Kind::Literal
            }
            '0'..='9' => {
                self.skip_while(|letter| letter == '.' || is_name_part(letter));
                Kind::Literal
            }
            '/' if last.is_none_or(|last| !ends_operand(self.code, last)) && self.skip_regex() => {
                Kind::Literal
            }
            letter if is_name_part(letter) || letter == '\\' || letter == '#' => {
                self.at += letter.len_utf8();
                self.skip_while(|letter| is_name_part(letter) || letter == '\\');
                Kind::Word
            }
            letter => {
                self.at += letter.len_utf8();
                Kind::Mark
            }
        };
        Some(Token {
            kind,
            start,
            end: self.at,
            after_newline,
        })
    }

    fn rest(&self) -> &str {
        &self.code[self.at..]
    }

    fn skip_while(&mut self, matches: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|letter| !matches(letter)).unwrap_or(rest.len());
    }

    /// Skips blanks and comments. Returns whether they contain a line break.
    fn skip_blanks(&mut self) -> bool {
        let start = self.at;
        loop {
            self.skip_while(char::is_whitespace);
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                self.at += comment.find("*/").map_or(rest.len(), |end| end + 4);
            } else {
                return self.code[start..self.at].contains('\n');
            }
        }
    }

    /// Skips a string up to its closing quote, or to the end of the line if it has none.
    fn skip_string(&mut self, quote: char) {
        self.at += 1;
        while let Some(letter) = self.rest().chars().next() {
            self.at += letter.len_utf8();
            match letter {
                '\\' => self.skip_one(),
                '\n' => return,
                _ if letter == quote => return,
                _ => {}
            }
        }
    }

    fn skip_one(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    /// Skips a template with the expressions in it.
    fn skip_template(&mut self) {
        self.at += 1;
        while let Some(letter) = self.rest().chars().next() {
            if self.rest().starts_with("${") {
                self.at += 2;
                self.skip_expression();
                continue;
            }
            self.at += letter.len_utf8();
            match letter {
                '\\' => self.skip_one(),
                '`' => return,
                _ => {}
            }
        }
    }

    /// Skips an expression up to the brace that closes it.
    fn skip_expression(&mut self) {
        let mut depth = 0_usize;
        let mut last: Option<Token> = None;
        while let Some(token) = self.next(last.as_ref()) {
            match token.text(self.code) {
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" => depth -= 1,
                _ => {}
            }
            last = Some(token);
        }
    }

    /// Skips a regular expression. Returns false and skips nothing if there is none.
    fn skip_regex(&mut self) -> bool {
        let mut in_class = false;
        let mut escaped = false;
        for (at, letter) in self.rest().char_indices().skip(1) {
            match letter {
                '\n' => return false,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    self.at += at + 1;
                    self.skip_while(is_name_part);
                    return true;
                }
                _ => {}
            }
        }
        false
    }
}

fn is_name_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$' || !letter.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::global_declarations;

    fn check(cases: &[(&str, &str)]) {
        for (code, expected) in cases {
            assert_eq!(&global_declarations(code), expected, "{code}");
        }
    }

    #[test]
    fn variables_become_assignments() {
        check(&[
            ("const a = 1, b = [2, 3];", " a = 1, b = [2, 3];"),
            ("let a;\nvar b", " a = undefined;\n b = undefined"),
            ("let a, b = 2, c;", " a = undefined, b = 2, c = undefined;"),
            (
                "const {a, b} = f(), [c] = g()",
                "0, {a, b} = f(), [c] = g()",
            ),
            ("let a = 1\nf(b), c", " a = 1\nf(b), c"),
            ("let a = b\n  + c, d", " a = b\n  + c, d = undefined"),
            ("let a\n= 1", " a\n= 1"),
            ("let = 3", "let = 3"),
            (
                "const f = async (x) => { const y = 1; return y }",
                " f = async (x) => { const y = 1; return y }",
            ),
        ]);
    }

    #[test]
    fn functions_and_classes_become_global() {
        check(&[
            (
                "function f() {}\nf()",
                "globalThis.f = f;function f() {}\nf()",
            ),
            (
                "x()\nasync function* g() {}",
                "globalThis.g = g;x()\nasync function* g() {}",
            ),
            ("const h = function k() {}", " h = function k() {}"),
            (
                "class A extends f({}) { m() {} }\n[1]",
                "A = class A extends f({}) { m() {} };\n[1]",
            ),
            ("x = class B {}", "x = class B {}"),
        ]);
    }

    #[test]
    fn inner_declarations_and_literals_stay() {
        for code in [
            "if (a) { const b = 1; function f() {} }",
            "for (const a of b) { let c }",
            "x = 'const a = 1' + \"let b\" + `const ${`}` + {a: 'let c'}.a} let d`",
            "// const a = 1\n/* let b = 2 */",
            "y = a / b; z = /[/]const c = 1/.test(d) / 2",
            "o.const = 1".trim_end_matches(".const = 1"),
            "return(/\\/let a/)",
            "'unclosed\n`unclosed ${ {",
        ] {
            assert_eq!(global_declarations(code), code, "{code}");
        }
    }

    #[test]
    fn any_text_is_accepted() {
        let letters = [
            "const ",
            "{",
            "}",
            "`",
            "${",
            "'",
            "/",
            "let ",
            "a",
            "=",
            ",",
            "é",
            "\n",
            "\\",
            "class ",
            "function ",
        ];
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            let mut code = String::new();
            for _ in 0..12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                code.push_str(letters[(seed >> 33) as usize % letters.len()]);
            }
            global_declarations(&code);
        }
    }
}
