//! What the screen should show, character by character, and the bytes that turn what it shows into that.

use std::io::Write;

use super::color::Depth;
use super::layout::Area;

/// The colour of a character or of its ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// As the terminal writes text.
    Plain,
    /// As a cell of this value.
    Cell(u8),
}

/// One character with its looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glyph {
    pub(crate) symbol: char,
    pub(crate) ink: Ink,
    pub(crate) ground: Ink,
    pub(crate) bold: bool,
}

const BLANK: Glyph = Glyph {
    symbol: ' ',
    ink: Ink::Plain,
    ground: Ink::Plain,
    bold: false,
};

/// A whole screen.
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

    /// Sets a character; outside the screen nothing happens.
    pub(crate) fn set(&mut self, column: u16, row: u16, glyph: Glyph) {
        let place = usize::from(row) * usize::from(self.columns) + usize::from(column);
        if column < self.columns
            && let Some(old) = self.glyphs.get_mut(place)
        {
            *old = glyph;
        }
    }

    fn rows(&self) -> impl Iterator<Item = &[Glyph]> {
        self.glyphs.chunks(usize::from(self.columns).max(1))
    }

    /// The characters without their looks.
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

/// Writes words into an area, on the next line when a line is full. What does not fit is left out.
pub(crate) struct Pen<'a> {
    canvas: &'a mut Canvas,
    area: Area,
    column: u16,
    row: u16,
}

impl<'a> Pen<'a> {
    pub(crate) const fn new(canvas: &'a mut Canvas, area: Area) -> Self {
        Self {
            canvas,
            area,
            column: 0,
            row: 0,
        }
    }

    /// Writes parts that stay together on a line, some of them bold, after a gap from what came before.
    pub(crate) fn group(&mut self, gap: u16, parts: &[(&str, bool)]) {
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

    /// Goes on in the next line.
    pub(crate) const fn new_line(&mut self) {
        self.column = 0;
        self.row += 1;
    }

    /// Writes a sentence word by word.
    pub(crate) fn sentence(&mut self, text: &str, bold: bool) {
        for word in text.split_whitespace() {
            self.group(1, &[(word, bold)]);
        }
    }
}

/// Remembers what the screen shows.
pub(crate) struct Painter {
    depth: Depth,
    shown: Option<Canvas>,
}

impl Painter {
    pub(crate) const fn new(depth: Depth) -> Self {
        Self { depth, shown: None }
    }

    /// Forgets what the screen shows, as after a change of its size.
    pub(crate) fn forget(&mut self) {
        self.shown = None;
    }

    /// The bytes that make the screen show the canvas: none if it does already.
    pub(crate) fn paint(&mut self, canvas: Canvas) -> Vec<u8> {
        let shown = self.shown.as_ref().filter(|shown| {
            shown.columns == canvas.columns && shown.glyphs.len() == canvas.glyphs.len()
        });
        let cleared = shown.is_none();
        let blank = Canvas {
            columns: canvas.columns,
            glyphs: vec![BLANK; canvas.glyphs.len()],
        };
        let mut strokes = Vec::new();
        let mut looks = None;
        for (row, (old, new)) in shown
            .unwrap_or(&blank)
            .rows()
            .zip(canvas.rows())
            .enumerate()
        {
            let mut pen_at = None;
            for (column, (old, new)) in old.iter().zip(new).enumerate() {
                if old == new {
                    continue;
                }
                if pen_at != Some(column) {
                    push(
                        &mut strokes,
                        format_args!("\x1b[{};{}H", row + 1, column + 1),
                    );
                }
                if looks != Some((new.ink, new.ground, new.bold)) {
                    looks = Some((new.ink, new.ground, new.bold));
                    self.looks(&mut strokes, *new);
                }
                push(&mut strokes, format_args!("{}", new.symbol));
                pen_at = Some(column + 1);
            }
        }
        self.shown = Some(canvas);
        if strokes.is_empty() && !cleared {
            return strokes;
        }
        // The terminal shows what stands between these two marks at once, if it knows them.
        let clear: &[u8] = if cleared { b"\x1b[0m\x1b[2J" } else { b"" };
        [
            b"\x1b[?2026h".as_slice(),
            clear,
            &strokes,
            b"\x1b[0m\x1b[?2026l",
        ]
        .concat()
    }

    fn looks(&self, strokes: &mut Vec<u8>, glyph: Glyph) {
        push(strokes, format_args!("\x1b[0"));
        if glyph.bold {
            push(strokes, format_args!(";1"));
        }
        for (ink, background) in [(glyph.ink, false), (glyph.ground, true)] {
            if let Ink::Cell(cell) = ink {
                push(
                    strokes,
                    format_args!(";{}", self.depth.parameters(cell, background)),
                );
            }
        }
        push(strokes, format_args!("m"));
    }
}

fn push(bytes: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    bytes
        .write_fmt(text)
        .expect("memory takes what is written to it");
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Glyph = Glyph {
        symbol: '▀',
        ink: Ink::Cell(8),
        ground: Ink::Cell(5),
        bold: false,
    };

    fn painted(painter: &mut Painter, canvas: &Canvas) -> String {
        String::from_utf8(painter.paint(canvas.clone())).unwrap()
    }

    #[test]
    fn only_what_changed_is_painted() {
        let mut painter = Painter::new(Depth::Ansi);
        let mut canvas = Canvas::new(4, 2);
        canvas.set(1, 0, RED);
        assert_eq!(
            painted(&mut painter, &canvas),
            "\x1b[?2026h\x1b[0m\x1b[2J\x1b[1;2H\x1b[0;91;40m▀\x1b[0m\x1b[?2026l"
        );
        assert_eq!(painted(&mut painter, &canvas), "");
        canvas.set(2, 1, RED);
        canvas.set(3, 1, RED);
        assert_eq!(
            painted(&mut painter, &canvas),
            "\x1b[?2026h\x1b[2;3H\x1b[0;91;40m▀▀\x1b[0m\x1b[?2026l"
        );
    }

    #[test]
    fn another_size_or_a_forgotten_screen_is_painted_anew() {
        let mut painter = Painter::new(Depth::Ansi);
        painted(&mut painter, &Canvas::new(4, 2));
        assert!(painted(&mut painter, &Canvas::new(2, 4)).contains("\x1b[2J"));
        painter.forget();
        assert!(painted(&mut painter, &Canvas::new(2, 4)).contains("\x1b[2J"));
    }

    #[test]
    fn words_go_on_the_next_line_and_stay_in_their_area() {
        let mut canvas = Canvas::new(12, 4);
        let mut pen = Pen::new(
            &mut canvas,
            Area {
                column: 1,
                row: 1,
                columns: 8,
                rows: 2,
            },
        );
        pen.sentence("one two three-and-more four", false);
        assert_eq!(canvas.text(), "\n one two\n three-an\n");
        canvas.set(12, 0, RED);
        canvas.set(0, 4, RED);
        assert!(!canvas.text().contains('▀'));
    }
}
