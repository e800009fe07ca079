//! Draws a plot of a leaderboard as a PNG picture, for places that show no SVG.
//!
//! Invariant: the picture has the lines, marks, colours and texts of the SVG file. A machine without
//! fonts draws the same picture, because the letters are part of the program.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use tiny_skia::{
    Color, FillRule, LineCap, Paint, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use crate::picture::PictureError;
use crate::run_marks::WIDTH;

/// The pixels of one unit of the SVG file, so that the picture is sharp in print.
const SCALE: f64 = 2.0;
/// The height of the letters, which have about the size of the SVG file at this scale.
const LETTERS: RasterHeight = RasterHeight::Size32;
const WEIGHT: FontWeight = FontWeight::Regular;
/// The distance of the top of a letter's box from its baseline, as a share of the height.
const ASCENT: f64 = 0.76;
/// The distance of the control points of a quarter circle, in radii.
const QUARTER: f32 = 0.552_284_8;

const TEXT: [u8; 3] = [0x1b, 0x1d, 0x21];
const QUIET: [u8; 3] = [0x62, 0x69, 0x73];
const GRID: [u8; 3] = [0xdf, 0xe2, 0xe6];
const BLUE: [u8; 3] = [0x16, 0x68, 0xc4];
const WHITE: [u8; 3] = [0xff; 3];

/// An element of a plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Drawn {
    Path {
        class: String,
        d: String,
    },
    Text {
        class: String,
        at: [f64; 2],
        text: String,
    },
}

/// How a class of paths is drawn.
struct Look {
    fill: Option<[u8; 3]>,
    /// Colour, width and dashes.
    stroke: Option<([u8; 3], f32, Option<[f32; 2]>)>,
}

/// Draws the elements of a plot of some height.
pub(crate) fn png(drawn: &[Drawn], height: f64) -> Result<Vec<u8>, PictureError> {
    let size = |units: f64| (units * SCALE).ceil() as u32;
    let mut canvas = Pixmap::new(size(WIDTH), size(height)).ok_or(PictureError::Empty)?;
    canvas.fill(Color::WHITE);
    for element in drawn {
        match element {
            Drawn::Path { class, d } => draw_path(&mut canvas, &look(class), d),
            Drawn::Text { class, at, text } => draw_text(&mut canvas, class, *at, text),
        }
    }
    encode(&canvas)
}

fn encode(canvas: &Pixmap) -> Result<Vec<u8>, PictureError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, canvas.width(), canvas.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    // The canvas is opaque.
    let pixels: Vec<u8> = canvas
        .data()
        .chunks_exact(4)
        .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect();
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(file)
}

/// Returns the look of a path, as the style sheet of the SVG file has it.
fn look(class: &str) -> Look {
    let stroke = |color, width, dash| Look {
        fill: None,
        stroke: Some((color, width, dash)),
    };
    match class.split(' ').collect::<Vec<_>>()[..] {
        ["grid", ..] => stroke(GRID, 1.0, None),
        ["strip", ..] => stroke(QUIET, 1.0, Some([2.0, 3.0])),
        ["family", ..] => stroke(TEXT, 1.5, None),
        ["frontier", ..] => stroke(QUIET, 1.0, Some([6.0, 3.0])),
        ["whisker", ..] => stroke(BLUE, 1.5, None),
        ["mark", "hollow", ..] => Look {
            fill: Some(WHITE),
            stroke: Some((TEXT, 2.0, None)),
        },
        ["mark", ..] => Look {
            fill: Some(BLUE),
            stroke: None,
        },
        _ => stroke(TEXT, 1.0, None),
    }
}

fn draw_path(canvas: &mut Pixmap, look: &Look, d: &str) {
    let Some(path) = outline(d) else {
        return;
    };
    let scale = Transform::from_scale(SCALE as f32, SCALE as f32);
    if let Some(fill) = look.fill {
        canvas.fill_path(&path, &paint(fill), FillRule::Winding, scale, None);
    }
    if let Some((color, width, dash)) = look.stroke {
        let stroke = Stroke {
            width,
            line_cap: LineCap::Butt,
            dash: dash.and_then(|dash| StrokeDash::new(dash.to_vec(), 0.0)),
            ..Stroke::default()
        };
        canvas.stroke_path(&path, &paint(color), &stroke, scale, None);
    }
}

fn paint([red, green, blue]: [u8; 3]) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint.anti_alias = true;
    paint
}

/// Reads the outline of a path: the commands `M`, `L`, `H`, `V`, `l`, `h`, `v`, `z`, and `a` for half
/// circles. `None` if it is empty.
fn outline(d: &str) -> Option<tiny_skia::Path> {
    let mut path = PathBuilder::new();
    let (mut x, mut y) = (0.0_f32, 0.0_f32);
    let mut rest = d;
    while let Some(command) = rest.chars().next() {
        rest = &rest[command.len_utf8()..];
        let end = rest.find(|letter: char| letter.is_ascii_alphabetic());
        let (numbers, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        let numbers: Vec<f32> = numbers
            .split([' ', ','])
            .filter_map(|number| number.parse().ok())
            .collect();
        match (command, &numbers[..]) {
            ('M', &[to_x, to_y]) => {
                (x, y) = (to_x, to_y);
                path.move_to(x, y);
                continue;
            }
            ('L', &[to_x, to_y]) => (x, y) = (to_x, to_y),
            ('l', &[by_x, by_y]) => (x, y) = (x + by_x, y + by_y),
            ('H', &[to]) => x = to,
            ('h', &[by]) => x += by,
            ('V', &[to]) => y = to,
            ('v', &[by]) => y += by,
            ('a', &[radius, _, _, _, _, by_x, _]) => {
                half_circle(&mut path, x, y, radius, by_x.signum());
                x += by_x;
                continue;
            }
            ('z', _) => {
                path.close();
                continue;
            }
            _ => continue,
        }
        path.line_to(x, y);
    }
    path.finish()
}

/// Draws half a circle from a point to the right (1) below it, or to the left (-1) above it.
fn half_circle(path: &mut PathBuilder, x: f32, y: f32, radius: f32, way: f32) {
    let (far, near) = (radius * way, radius * QUARTER * way);
    path.cubic_to(x, y + near, x + far - near, y + far, x + far, y + far);
    let end = x + 2.0 * far;
    path.cubic_to(x + far + near, y + far, end, y + near, end, y);
}

/// Draws a text on its baseline. Letters that the font lacks are drawn as `?`.
fn draw_text(canvas: &mut Pixmap, class: &str, [x, y]: [f64; 2], text: &str) {
    let classes: Vec<&str> = class.split(' ').collect();
    let color = if classes.contains(&"quiet") {
        QUIET
    } else {
        TEXT
    };
    let advance = get_raster_width(WEIGHT, LETTERS) as f64;
    let width = advance * text.chars().count() as f64;
    let shift = if classes.contains(&"mid") {
        width / 2.0
    } else if classes.contains(&"end") {
        width
    } else {
        0.0
    };
    // A label never leaves the picture, because its letters are wider than those of the SVG file.
    let rightmost = (f64::from(canvas.width()) - width).max(0.0);
    let left = (x * SCALE - shift).clamp(0.0, rightmost);
    let top = y * SCALE - LETTERS.val() as f64 * ASCENT;
    for (index, letter) in text.chars().enumerate() {
        let glyph = get_raster(letter, WEIGHT, LETTERS);
        let glyph = glyph.or_else(|| get_raster('?', WEIGHT, LETTERS));
        let at = (left + advance * index as f64).round() as usize;
        for (row, pixels) in glyph.iter().flat_map(|glyph| glyph.rows().enumerate()) {
            let line = top.round() + row as f64;
            if line >= 0.0 && line < f64::from(canvas.height()) {
                blend(canvas, at, line as usize, pixels, color);
            }
        }
    }
}

/// Blends a row of a letter into an opaque canvas.
fn blend(canvas: &mut Pixmap, x: usize, y: usize, coverage: &[u8], color: [u8; 3]) {
    let width = canvas.width() as usize;
    for (x, &share) in (x..width).zip(coverage) {
        let start = (y * width + x) * 4;
        let pixel = &mut canvas.data_mut()[start..start + 3];
        for (channel, ink) in pixel.iter_mut().zip(color) {
            let (share, ink, paper) = (u32::from(share), u32::from(ink), u32::from(*channel));
            *channel = ((ink * share + paper * (255 - share) + 127) / 255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the width of a picture and its pixels.
    fn decode(file: &[u8]) -> (usize, Vec<[u8; 3]>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let pixels = pixels.chunks_exact(3).map(|one| [one[0], one[1], one[2]]);
        (info.width as usize, pixels.collect())
    }

    #[test]
    fn shapes_and_letters_are_where_the_plot_has_them() {
        let path = |class: &str, d: &str| Drawn::Path {
            class: class.to_owned(),
            d: d.to_owned(),
        };
        let drawn = [
            path("mark run1", "M10.0 10.0h8v8h-8z"),
            path(
                "mark run0",
                "M30.0 14.0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
            ),
            path("grid", "M60.0 20.0H90.0"),
            Drawn::Text {
                class: "quiet end".to_owned(),
                at: [700.0, 60.0],
                text: "7".to_owned(),
            },
        ];
        let (width, pixels) = decode(&png(&drawn, 80.0).unwrap());
        assert_eq!((width, pixels.len()), (1440, 1440 * 160));
        let at = |x: usize, y: usize| pixels[y * width + x];
        assert_eq!(at(28, 28), BLUE);
        // The middle, the top and the bottom of the circle, and a corner of its box.
        assert_eq!([at(69, 28), at(69, 21), at(69, 35)], [BLUE; 3]);
        assert_eq!(at(60, 20), WHITE);
        assert_eq!(at(150, 40), GRID);
        let ink = |from: usize, to: usize| {
            let all = (90..130).flat_map(|y| (from..to).map(move |x| (x, y)));
            all.filter(|&(x, y)| at(x, y) != WHITE).count()
        };
        assert!(ink(1386, 1400) > 30 && ink(1300, 1380) == 0);
    }

    #[test]
    fn labels_stay_inside_the_picture() {
        let text = |x: f64, text: &str| Drawn::Text {
            class: String::new(),
            at: [x, 4.0],
            text: text.to_owned(),
        };
        for drawn in [
            text(719.0, "right"),
            text(-50.0, "left"),
            text(0.0, &"x".repeat(200)),
        ] {
            let (width, _) = decode(&png(&[drawn], 20.0).unwrap());
            assert_eq!(width, 1440);
        }
    }

    #[test]
    fn colours_are_those_of_the_style_sheet() {
        for [red, green, blue] in [TEXT, QUIET, GRID, BLUE] {
            let color = format!("#{red:02x}{green:02x}{blue:02x}");
            assert!(crate::board_plot::STYLE.contains(&color), "{color}");
        }
    }
}
