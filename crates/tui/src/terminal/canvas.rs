//! The content of the screen as a grid of characters, and the escape sequences that draw it.

use std::io::Write;

use super::color::ColorDepth;
use super::layout::Area;

/// A foreground or background colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    /// The terminal's default colour.
    Default,
    /// The palette colour of this cell value.
    Cell(u8),
}

/// One character and its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glyph {
    pub(crate) symbol: char,
    pub(crate) foreground: Color,
    pub(crate) background: Color,
    pub(crate) bold: bool,
}

const BLANK: Glyph = Glyph {
    symbol: ' ',
    foreground: Color::Default,
    background: Color::Default,
    bold: false,
};

/// The content of a whole screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Canvas {
    columns: u16,
    glyphs: Vec<Glyph>,
}

impl Canvas {
    pub(crate) fn new(columns: u16, rows: u16) -> Self {
        Self {
            columns,
            glyphs: vec![BLANK; usize::from(columns) * usize::from(rows)],
        }
    }

    /// Sets a character. Positions outside the screen are ignored.
    pub(crate) fn set(&mut self, column: u16, row: u16, glyph: Glyph) {
        let index = usize::from(row) * usize::from(self.columns) + usize::from(column);
        if column < self.columns
            && let Some(old) = self.glyphs.get_mut(index)
        {
            *old = glyph;
        }
    }

    fn rows(&self) -> impl Iterator<Item = &[Glyph]> {
        self.glyphs.chunks(usize::from(self.columns).max(1))
    }

    /// Returns the characters without their style.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        let line = |row: &[Glyph]| {
            row.iter()
                .map(|glyph| glyph.symbol)
                .collect::<String>()
                .trim_end()
                .to_owned()
        };
        self.rows().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Writes text into an area and wraps lines. Text that does not fit is dropped.
pub(crate) struct TextWriter<'a> {
    canvas: &'a mut Canvas,
    area: Area,
    column: u16,
    row: u16,
}

impl<'a> TextWriter<'a> {
    pub(crate) const fn new(canvas: &'a mut Canvas, area: Area) -> Self {
        Self {
            canvas,
            area,
            column: 0,
            row: 0,
        }
    }

    /// Writes parts that stay together on one line. Each part is a text and whether it is bold.
    /// `gap` is the number of blank columns after the previous text on the line.
    pub(crate) fn write_group(&mut self, gap: u16, parts: &[(&str, bool)]) {
        let width: usize = parts.iter().map(|(text, _)| text.chars().count()).sum();
        let width = u16::try_from(width).unwrap_or(u16::MAX);
        if self.column > 0 {
            if self.column.saturating_add(gap).saturating_add(width) <= self.area.columns {
                self.column += gap;
            } else {
                self.new_line();
            }
        }
        for &(text, bold) in parts {
            for symbol in text.chars() {
                if self.column < self.area.columns && self.row < self.area.rows {
                    let glyph = Glyph {
                        symbol,
                        bold,
                        ..BLANK
                    };
                    self.canvas.set(
                        self.area.column + self.column,
                        self.area.row + self.row,
                        glyph,
                    );
                }
                self.column = self.column.saturating_add(1);
            }
        }
    }

    /// Moves to the start of the next line.
    pub(crate) const fn new_line(&mut self) {
        self.column = 0;
        self.row += 1;
    }

    /// Writes text and breaks lines between words.
    pub(crate) fn write_words(&mut self, text: &str, bold: bool) {
        for word in text.split_whitespace() {
            self.write_group(1, &[(word, bold)]);
        }
    }
}

/// Updates the terminal incrementally. It keeps the last drawn canvas and writes only the
/// characters that changed.
pub(crate) struct Renderer {
    depth: ColorDepth,
    drawn: Option<Canvas>,
}

impl Renderer {
    pub(crate) const fn new(depth: ColorDepth) -> Self {
        Self { depth, drawn: None }
    }

    /// Forces a full redraw, for example after a resize.
    pub(crate) fn invalidate(&mut self) {
        self.drawn = None;
    }

    /// Returns the bytes that draw the canvas, or no bytes if the screen already shows it.
    pub(crate) fn render(&mut self, canvas: Canvas) -> Vec<u8> {
        let drawn = self.drawn.as_ref().filter(|drawn| {
            drawn.columns == canvas.columns && drawn.glyphs.len() == canvas.glyphs.len()
        });
        let full_redraw = drawn.is_none();
        let blank = Canvas {
            columns: canvas.columns,
            glyphs: vec![BLANK; canvas.glyphs.len()],
        };
        let mut bytes = Vec::new();
        let mut style = None;
        for (row, (old, new)) in drawn
            .unwrap_or(&blank)
            .rows()
            .zip(canvas.rows())
            .enumerate()
        {
            let mut cursor_column = None;
            for (column, (old, new)) in old.iter().zip(new).enumerate() {
                if old == new {
                    continue;
                }
                if cursor_column != Some(column) {
                    push(&mut bytes, format_args!("\x1b[{};{}H", row + 1, column + 1));
                }
                if style != Some((new.foreground, new.background, new.bold)) {
                    style = Some((new.foreground, new.background, new.bold));
                    self.push_style(&mut bytes, *new);
                }
                push(&mut bytes, format_args!("{}", new.symbol));
                cursor_column = Some(column + 1);
            }
        }
        self.drawn = Some(canvas);
        if bytes.is_empty() && !full_redraw {
            return bytes;
        }
        // A synchronized update: terminals that support it show the whole update at once.
        let clear: &[u8] = if full_redraw { b"\x1b[0m\x1b[2J" } else { b"" };
        [
            b"\x1b[?2026h".as_slice(),
            clear,
            &bytes,
            b"\x1b[0m\x1b[?2026l",
        ]
        .concat()
    }

    fn push_style(&self, bytes: &mut Vec<u8>, glyph: Glyph) {
        push(bytes, format_args!("\x1b[0"));
        if glyph.bold {
            push(bytes, format_args!(";1"));
        }
        for (color, is_background) in [(glyph.foreground, false), (glyph.background, true)] {
            if let Color::Cell(cell) = color {
                push(
                    bytes,
                    format_args!(";{}", self.depth.parameters(cell, is_background)),
                );
            }
        }
        push(bytes, format_args!("m"));
    }
}

fn push(bytes: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    bytes
        .write_fmt(text)
        .expect("writing to a vector cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Glyph = Glyph {
        symbol: '▀',
        foreground: Color::Cell(8),
        background: Color::Cell(5),
        bold: false,
    };

    fn rendered(renderer: &mut Renderer, canvas: &Canvas) -> String {
        String::from_utf8(renderer.render(canvas.clone())).unwrap()
    }

    #[test]
    fn only_changed_characters_are_drawn() {
        let mut renderer = Renderer::new(ColorDepth::Ansi);
        let mut canvas = Canvas::new(4, 2);
        canvas.set(1, 0, RED);
        assert_eq!(
            rendered(&mut renderer, &canvas),
            "\x1b[?2026h\x1b[0m\x1b[2J\x1b[1;2H\x1b[0;91;40m▀\x1b[0m\x1b[?2026l"
        );
        assert_eq!(rendered(&mut renderer, &canvas), "");
        canvas.set(2, 1, RED);
        canvas.set(3, 1, RED);
        assert_eq!(
            rendered(&mut renderer, &canvas),
            "\x1b[?2026h\x1b[2;3H\x1b[0;91;40m▀▀\x1b[0m\x1b[?2026l"
        );
    }

    #[test]
    fn resize_or_invalidation_redraws_everything() {
        let mut renderer = Renderer::new(ColorDepth::Ansi);
        rendered(&mut renderer, &Canvas::new(4, 2));
        assert!(rendered(&mut renderer, &Canvas::new(2, 4)).contains("\x1b[2J"));
        renderer.invalidate();
        assert!(rendered(&mut renderer, &Canvas::new(2, 4)).contains("\x1b[2J"));
    }

    #[test]
    fn words_wrap_and_stay_within_their_area() {
        let mut canvas = Canvas::new(12, 4);
        let mut writer = TextWriter::new(
            &mut canvas,
            Area {
                column: 1,
                row: 1,
                columns: 8,
                rows: 2,
            },
        );
        writer.write_words("one two three-and-more four", false);
        assert_eq!(canvas.text(), "\n one two\n three-an\n");
        canvas.set(12, 0, RED);
        canvas.set(0, 4, RED);
        assert!(!canvas.text().contains('▀'));
    }
}
