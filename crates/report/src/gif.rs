//! Small animated GIFs of films. All pictures share one palette, and each picture contains only the
//! rectangle that changed. Unchanged pixels inside the rectangle are transparent where possible,
//! which improves the compression.
//!
//! Invariant: the file always contains the last settled frame, however low the limit on pictures
//! is.

use gif::{Encoder, Repeat};
use rhae_engine::{Frame, PALETTE, SIZE};

use crate::{Film, PictureError};

/// Options of [`animated_gif`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GifOptions {
    /// Pixels per cell, 1 to 16.
    pub zoom: usize,
    /// The maximum number of pictures. If the film has more, animation frames are dropped first and
    /// then settled frames, each evenly over the film.
    pub max_frames: Option<usize>,
    /// How long a settled frame is shown after an action that changed something.
    pub settled_ms: u32,
    /// How long the last picture is shown before the GIF starts again.
    pub end_ms: u32,
    /// Whether a ring marks the clicked cell for one picture before the result of the click.
    pub clicks: bool,
}

impl Default for GifOptions {
    fn default() -> Self {
        Self {
            zoom: 6,
            max_frames: None,
            settled_ms: 300,
            end_ms: 2000,
            clicks: true,
        }
    }
}

/// Encodes the film as a GIF that repeats forever.
///
/// # Errors
///
/// Returns [`PictureError::Empty`] if the film has no frames, and [`PictureError::Animate`] if the
/// GIF encoder fails.
pub fn animated_gif(film: &Film, options: &GifOptions) -> Result<Vec<u8>, PictureError> {
    let zoom = options.zoom.clamp(1, 16);
    let shots = thinned(
        shots(film, options),
        options.max_frames.unwrap_or(usize::MAX),
    );
    if shots.is_empty() {
        return Err(PictureError::Empty);
    }
    let side = u16::try_from(SIZE * zoom).expect("16 × 64 pixels fit into 16 bits");
    let mut encoder = Encoder::new(Vec::new(), side, side, &PALETTE.concat())?;
    encoder.set_repeat(Repeat::Infinite)?;

    let mut shown: Option<Vec<u8>> = None;
    let mut pending: Option<gif::Frame<'static>> = None;
    for shot in &shots {
        let pixels = drawn(shot, zoom);
        let Some(area) = changed_area(shown.as_deref(), &pixels, SIZE * zoom) else {
            // Nothing changed: the previous picture is shown for longer.
            if let Some(frame) = &mut pending {
                frame.delay = frame.delay.saturating_add(centiseconds(shot.ms));
            }
            continue;
        };
        if let Some(frame) =
            pending.replace(cut(shown.as_deref(), &pixels, area, SIZE * zoom, shot.ms))
        {
            encoder.write_frame(&frame)?;
        }
        shown = Some(pixels);
    }
    if let Some(frame) = pending {
        encoder.write_frame(&frame)?;
    }
    Ok(encoder.into_inner()?)
}

/// One picture of the film and its duration.
#[derive(Clone, Debug)]
struct Shot<'a> {
    frame: &'a Frame,
    ring: Option<(usize, usize)>,
    settled: bool,
    ms: u32,
}

/// A rectangle in pixels; `right` and `bottom` are exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

fn shots<'a>(film: &'a Film, options: &GifOptions) -> Vec<Shot<'a>> {
    let tick = film.frame_ms();
    let mut shots: Vec<Shot<'a>> = Vec::new();
    for moment in &film.moments {
        if let (true, Some(cell), Some(before)) = (options.clicks, moment.click(), shots.last()) {
            shots.push(Shot {
                frame: before.frame,
                ring: Some(cell),
                settled: false,
                ms: tick.max(100),
            });
        }
        let last = moment.frames.len().saturating_sub(1);
        shots.extend(moment.frames.iter().enumerate().map(|(index, frame)| {
            let settled = index == last;
            let ms = if settled && moment.changed {
                options.settled_ms.max(tick)
            } else {
                tick
            };
            Shot {
                frame,
                ring: None,
                settled,
                ms,
            }
        }));
    }
    if let Some(shot) = shots.last_mut() {
        shot.ms = options.end_ms;
    }
    shots
}

/// Keeps at most `max` shots, spread evenly over the film: all settled shots and some of the others
/// or, if there are more than `max` settled shots, only some of the settled ones.
fn thinned(shots: Vec<Shot<'_>>, max: usize) -> Vec<Shot<'_>> {
    if shots.len() <= max {
        return shots;
    }
    let max = max.max(1);
    let settled = shots.iter().filter(|shot| shot.settled).count();
    let keep_settled = settled.min(max);
    let (mut settled_picks, mut other_picks) = (
        EvenPicks::new(settled, keep_settled),
        EvenPicks::new(shots.len() - settled, max - keep_settled),
    );
    shots
        .into_iter()
        .filter(|shot| {
            if shot.settled {
                settled_picks.next()
            } else {
                other_picks.next()
            }
        })
        .collect()
}

/// Selects `kept` of `total` items, evenly spaced; the last item is always selected.
struct EvenPicks {
    total: usize,
    kept: usize,
    credit: usize,
}

impl EvenPicks {
    const fn new(total: usize, kept: usize) -> Self {
        Self {
            total,
            kept,
            credit: 0,
        }
    }

    const fn next(&mut self) -> bool {
        self.credit += self.kept;
        let picked = self.credit >= self.total;
        if picked {
            self.credit -= self.total;
        }
        picked
    }
}

fn drawn(shot: &Shot<'_>, zoom: usize) -> Vec<u8> {
    let width = SIZE * zoom;
    let mut pixels = Vec::with_capacity(width * width);
    for row in shot.frame.rows() {
        let start = pixels.len();
        pixels.extend(
            row.iter()
                .flat_map(|&cell| std::iter::repeat_n(cell.min(15), zoom)),
        );
        for _ in 1..zoom {
            pixels.extend_from_within(start..start + width);
        }
    }
    if let Some(cell) = shot.ring {
        draw_ring(&mut pixels, zoom, cell, ring_color(shot.frame, cell));
    }
    pixels
}

/// Draws a ring around a cell without covering it: the inner radius is about one cell, the outer
/// about two.
fn draw_ring(pixels: &mut [u8], zoom: usize, (x, y): (usize, usize), color: u8) {
    // All lengths are doubled, so that the centre of a cell is an integer.
    let (inner, outer) = (2 * zoom + zoom / 2, 4 * zoom + zoom / 4);
    let (center_x, center_y) = ((2 * x + 1) * zoom, (2 * y + 1) * zoom);
    let reach = |cell: usize| (cell.saturating_sub(2) * zoom)..((cell + 3).min(SIZE) * zoom);
    for row in reach(y) {
        for column in reach(x) {
            let distance = (2 * column + 1).abs_diff(center_x).pow(2)
                + (2 * row + 1).abs_diff(center_y).pow(2);
            if (inner * inner..outer * outer).contains(&distance) {
                pixels[row * SIZE * zoom + column] = color;
            }
        }
    }
}

/// Returns the colour with the highest contrast to the cells under the ring.
fn ring_color(frame: &Frame, (x, y): (usize, usize)) -> u8 {
    let near = |cell: usize| cell.saturating_sub(2)..(cell + 3).min(SIZE);
    let contrast = |color: &u8| {
        let under = near(y).flat_map(|row| near(x).map(move |column| frame.get(column, row)));
        under
            .map(|cell| distance(*color, cell.min(15)))
            .min()
            .unwrap_or(0)
    };
    (0..16).max_by_key(contrast).unwrap_or(0)
}

/// Returns the squared distance of two colours, weighted roughly by perception.
fn distance(a: u8, b: u8) -> u32 {
    let (a, b) = (PALETTE[usize::from(a)], PALETTE[usize::from(b)]);
    let squares = [0, 1, 2].map(|part| u32::from(a[part].abs_diff(b[part])).pow(2));
    3 * squares[0] + 6 * squares[1] + squares[2]
}

/// Returns the bounding box of the changed pixels; `None` if nothing changed.
fn changed_area(before: Option<&[u8]>, pixels: &[u8], width: usize) -> Option<Area> {
    let Some(before) = before else {
        return Some(Area {
            left: 0,
            top: 0,
            right: width,
            bottom: pixels.len() / width,
        });
    };
    let mut area: Option<Area> = None;
    for (y, (old, new)) in before
        .chunks_exact(width)
        .zip(pixels.chunks_exact(width))
        .enumerate()
    {
        if old == new {
            continue;
        }
        let differs = |x: &usize| old[*x] != new[*x];
        let (first, last) = (
            (0..width).find(differs).unwrap_or(0),
            (0..width).rfind(differs).unwrap_or(0),
        );
        let row = Area {
            left: first,
            top: y,
            right: last + 1,
            bottom: y + 1,
        };
        area = Some(area.map_or(row, |area| Area {
            left: area.left.min(row.left),
            right: area.right.max(row.right),
            bottom: row.bottom,
            ..area
        }));
    }
    area
}

fn cut(
    before: Option<&[u8]>,
    pixels: &[u8],
    area: Area,
    width: usize,
    ms: u32,
) -> gif::Frame<'static> {
    let rows = || (area.top..area.bottom).map(|y| y * width + area.left..y * width + area.right);
    let mut buffer: Vec<u8> = rows().flat_map(|row| &pixels[row]).copied().collect();
    let mut transparent = None;
    if let Some(before) = before {
        let old = rows().flat_map(|row| &before[row]);
        let used = buffer
            .iter()
            .zip(old.clone())
            .filter(|(new, old)| new != old)
            .fold(0u16, |used, (new, _)| used | 1 << new);
        // A colour that no changed pixel has can represent the unchanged pixels. The lowest such
        // index is chosen, because low indices give the shortest codes.
        transparent = (0..16).find(|color| used >> color & 1 == 0);
        if let Some(color) = transparent {
            buffer
                .iter_mut()
                .zip(old)
                .filter(|(new, old)| new == old)
                .for_each(|(new, _)| *new = color);
        }
    }
    let small =
        |length: usize| u16::try_from(length).expect("a picture is at most 1,024 pixels wide");
    gif::Frame {
        delay: centiseconds(ms),
        transparent,
        left: small(area.left),
        top: small(area.top),
        width: small(area.right - area.left),
        height: small(area.bottom - area.top),
        buffer: buffer.into(),
        ..gif::Frame::default()
    }
}

/// Converts milliseconds to centiseconds, the unit of GIF delays. Browsers display delays below two
/// as ten, so the minimum is two.
fn centiseconds(ms: u32) -> u16 {
    u16::try_from(ms / 10).unwrap_or(u16::MAX).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::tests::walking_square;

    /// Decodes a GIF into the complete picture after each frame, with its delay.
    fn played(file: &[u8]) -> Vec<(Vec<u8>, u16)> {
        let mut decoder = gif::Decoder::new(file).unwrap();
        let width = usize::from(decoder.width());
        let mut canvas = vec![0; width * width];
        let mut pictures = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            for (row, line) in frame
                .buffer
                .chunks_exact(usize::from(frame.width))
                .enumerate()
            {
                let start = (usize::from(frame.top) + row) * width + usize::from(frame.left);
                for (pixel, &color) in canvas[start..]
                    .iter_mut()
                    .zip(line)
                    .filter(|(_, color)| Some(**color) != frame.transparent)
                {
                    *pixel = color;
                }
            }
            pictures.push((canvas.clone(), frame.delay));
        }
        pictures
    }

    #[test]
    fn gif_contains_every_frame() {
        let film = walking_square(3);
        let options = GifOptions {
            zoom: 1,
            clicks: false,
            ..GifOptions::default()
        };
        let pictures = played(&animated_gif(&film, &options).unwrap());
        let mut frames: Vec<&Frame> = film
            .moments
            .iter()
            .flat_map(|moment| &moment.frames)
            .collect();
        frames.dedup();
        assert_eq!(pictures.len(), frames.len());
        for ((picture, _), frame) in pictures.iter().zip(frames) {
            assert!(picture[..] == frame.cells()[..]);
        }
        assert_eq!(pictures.last().unwrap().1, 200);
    }

    #[test]
    fn click_is_marked_by_a_ring_for_one_picture() {
        let film = walking_square(1);
        let pictures = played(
            &animated_gif(
                &film,
                &GifOptions {
                    zoom: 2,
                    ..GifOptions::default()
                },
            )
            .unwrap(),
        );
        let ringed = &pictures[1].0;
        assert_ne!(ringed, &pictures[0].0);
        assert_eq!(&pictures[2].0, &pictures[0].0);
        let pixel = |x: usize, y: usize| ringed[y * 128 + x];
        assert_eq!(
            pixel(20, 80),
            film.moments[1].frames[0].get(10, 40),
            "the clicked cell stays visible"
        );
        assert_ne!(
            pixel(23, 80),
            film.moments[1].frames[0].get(11, 40),
            "the ring surrounds it"
        );
    }

    #[test]
    fn rings_at_the_border_are_clipped() {
        for zoom in [1, 2, 6, 16] {
            for cell in [(0, 0), (63, 63), (0, 63)] {
                draw_ring(&mut vec![0; SIZE * zoom * SIZE * zoom], zoom, cell, 1);
            }
        }
    }

    #[test]
    fn frame_limit_is_respected_and_keeps_the_last_frame() {
        let film = walking_square(5);
        let unlimited = played(
            &animated_gif(
                &film,
                &GifOptions {
                    zoom: 1,
                    ..GifOptions::default()
                },
            )
            .unwrap(),
        );
        for max in [0, 1, 2, 10, 30, 45] {
            let options = GifOptions {
                zoom: 1,
                max_frames: Some(max),
                ..GifOptions::default()
            };
            let pictures = played(&animated_gif(&film, &options).unwrap());
            assert!(pictures.len() <= max.max(1));
            assert!(pictures.last().unwrap().0 == unlimited.last().unwrap().0);
        }
    }

    #[test]
    fn film_without_frames_is_rejected() {
        assert!(matches!(
            animated_gif(&Film::new("", "", 20, 1), &GifOptions::default()),
            Err(PictureError::Empty)
        ));
    }
}
