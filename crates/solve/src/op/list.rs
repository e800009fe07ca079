//! Lists: functions that divide an image into parts, select parts and combine them.

use crate::image::{Image, MAX_IMAGE_SIDE};

/// Divides an image at rows and columns of a single colour. The separator is the colour other than
/// ground with the most such lines, or ground if no other colour has any. Returns `None` if there
/// are fewer than two parts.
pub(crate) fn cut(image: &Image) -> Option<Vec<Image>> {
    let row_of = |y: usize| {
        let first = image.at(0, y);
        (0..image.w)
            .all(|x| image.at(x, y) == first)
            .then_some(first)
    };
    let column_of = |x: usize| {
        let first = image.at(x, 0);
        (0..image.h)
            .all(|y| image.at(x, y) == first)
            .then_some(first)
    };
    let rows: Vec<Option<u8>> = (0..image.h).map(row_of).collect();
    let columns: Vec<Option<u8>> = (0..image.w).map(column_of).collect();
    let lines = |color: u8| {
        rows.iter()
            .chain(&columns)
            .filter(|line| **line == Some(color))
            .count()
    };
    let color = (1..16)
        .rev()
        .max_by_key(|&color| lines(color))
        .filter(|&color| lines(color) > 0)
        .unwrap_or(0);
    let gaps = |line: &[Option<u8>]| {
        let mut parts = Vec::new();
        let mut start = None;
        for (at, value) in line.iter().chain([&Some(color)]).enumerate() {
            match (start, *value == Some(color)) {
                (None, false) => start = Some(at),
                (Some(from), true) => {
                    parts.push((from, at - from));
                    start = None;
                }
                _ => {}
            }
        }
        parts
    };
    let (across, down) = (gaps(&columns), gaps(&rows));
    if across.len() * down.len() < 2 {
        return None;
    }
    let parts = down
        .iter()
        .flat_map(|&(y, h)| across.iter().map(move |&(x, w)| image.part(x, y, w, h)));
    Some(parts.collect())
}

/// Returns one image per colour, except ground. It contains only the cells of this colour and is
/// cropped to them.
pub(crate) fn by_color(image: &Image) -> Vec<Image> {
    let counts = image.histogram();
    let colors = (1..16).filter(|&color| counts[usize::from(color)] > 0);
    colors
        .filter_map(|color| {
            image
                .map(|cell| if cell == color { cell } else { 0 })
                .cropped()
        })
        .collect()
}

pub(crate) fn columns(image: &Image) -> Vec<Image> {
    (0..image.w).map(|x| image.part(x, 0, 1, image.h)).collect()
}

pub(crate) fn rows(image: &Image) -> Vec<Image> {
    (0..image.h).map(|y| image.part(0, y, image.w, 1)).collect()
}

/// Returns the object with the largest (or, with `least`, smallest) value of a property. Returns
/// `None` if several different objects have this value.
pub(crate) fn pick(objects: &[Image], values: &[i32], least: bool) -> Option<Image> {
    let best = if least {
        values.iter().min()?
    } else {
        values.iter().max()?
    };
    let mut found = objects
        .iter()
        .zip(values)
        .filter(|(_, value)| *value == best);
    let (object, _) = found.next()?;
    // A tie between objects with the same content is not ambiguous.
    found
        .all(|(other, _)| other.w == object.w && other.cells == object.cells)
        .then(|| object.clone())
}

/// Returns all objects with the largest (or, with `least`, smallest) value of a property. With
/// `others`, returns the remaining objects instead.
pub(crate) fn keep(
    objects: &[Image],
    values: &[i32],
    least: bool,
    others: bool,
) -> Option<Vec<Image>> {
    let best = *if least {
        values.iter().min()?
    } else {
        values.iter().max()?
    };
    let kept = objects
        .iter()
        .zip(values)
        .filter(|(_, value)| (**value == best) != others)
        .map(|(object, _)| object.clone());
    Some(kept.collect())
}

/// Paints all objects at their positions into one image, in the order of the list or, with
/// `growing`, the largest first, so that small objects are on top.
pub(crate) fn compose(objects: &[Image], growing: bool) -> Option<Image> {
    let left = objects.iter().map(|object| object.x).min()?;
    let top = objects.iter().map(|object| object.y).min()?;
    let right = objects
        .iter()
        .map(|object| object.x + object.w as i16)
        .max()?;
    let bottom = objects
        .iter()
        .map(|object| object.y + object.h as i16)
        .max()?;
    let (w, h) = ((right - left) as usize, (bottom - top) as usize);
    if w > MAX_IMAGE_SIDE || h > MAX_IMAGE_SIDE {
        return None;
    }
    let mut canvas = Image::filled(w, h, 0).moved_to(left, top);
    let mut order: Vec<&Image> = objects.iter().collect();
    if growing {
        order.sort_by_key(|object| std::cmp::Reverse(object.count()));
    }
    for object in order {
        canvas.paint(object);
    }
    Some(canvas)
}

/// Concatenates the objects from left to right or, with `down`, from top to bottom.
pub(crate) fn line_up(objects: &[Image], down: bool) -> Option<Image> {
    if down {
        let turned: Vec<Image> = objects.iter().map(Image::transposed).collect();
        return Some(line_up(&turned, false)?.transposed());
    }
    let mut order: Vec<&Image> = objects.iter().collect();
    order.sort_by_key(|object| object.x);
    let h = order.iter().map(|object| object.h).max()?;
    let w: usize = order.iter().map(|object| object.w).sum();
    if w > MAX_IMAGE_SIDE || h > MAX_IMAGE_SIDE {
        return None;
    }
    let mut canvas = Image::filled(w, h, 0);
    let mut x = 0;
    for object in order {
        canvas.paint(&object.clone().moved_to(x, 0));
        x += object.w as i16;
    }
    Some(canvas)
}

/// Paints objects of the same size over each other; with `over`, the first object is on top.
/// Returns `None` if the sizes differ.
pub(crate) fn overlay(objects: &[Image], over: bool) -> Option<Image> {
    let first = objects.first()?;
    if objects.iter().any(|object| object.size() != first.size()) {
        return None;
    }
    let mut canvas = Image::filled(first.w, first.h, 0);
    let paint = |canvas: &mut Image, object: &Image| canvas.paint(&object.clone().moved_to(0, 0));
    if over {
        objects
            .iter()
            .rev()
            .for_each(|object| paint(&mut canvas, object));
    } else {
        objects.iter().for_each(|object| paint(&mut canvas, object));
    }
    Some(canvas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;
    use crate::op::region::{Connectivity, split};
    use crate::property::{Property, measure};

    #[test]
    fn image_is_divided_at_lines_of_a_color() {
        let parts = cut(&image(&["1.5.2", "..5..", "55555", "3.5.4"])).unwrap();
        assert_eq!(parts.len(), 4);
        assert_eq!(
            (parts[3].x, parts[3].y, parts[3].cells.as_slice()),
            (3, 3, &[0, 4][..])
        );
        assert_eq!(cut(&image(&["12", "21"])), None);
        assert_eq!(cut(&image(&["1.2", "2.1"])).unwrap().len(), 2);
    }

    #[test]
    fn pick_requires_a_unique_object() {
        let objects = split(
            &image(&["11.2.3", "......", "444..."]),
            Connectivity::Color4,
        );
        let values = |property| measure(property, &objects, (6, 3));
        let picked = |property, least| pick(&objects, &values(property), least);
        assert_eq!(picked(Property::Count, false).unwrap().cells, [4, 4, 4]);
        assert_eq!(picked(Property::Count, true), None);
        let kept = keep(&objects, &values(Property::Count), true, false).unwrap();
        assert_eq!(kept.len(), 2);
        assert_eq!(
            keep(&objects, &values(Property::Count), true, true)
                .unwrap()
                .len(),
            2
        );
    }

    #[test]
    fn parts_are_combined() {
        let picture = image(&["11.2", "1..2", "..3."]);
        let parts = split(&picture, Connectivity::Color4);
        assert_eq!(compose(&parts, false).unwrap(), picture);
        assert_eq!(compose(&by_color(&picture), true).unwrap(), picture);
        assert_eq!(line_up(&parts, false).unwrap().size(), (4, 2));
        assert_eq!(line_up(&parts, true).unwrap().size(), (2, 5));
        assert_eq!(overlay(&columns(&picture), false).unwrap().cells, [2, 2, 3]);
        assert_eq!(overlay(&columns(&picture), true).unwrap().cells, [1, 1, 3]);
        assert_eq!(rows(&picture).len(), 3);
    }
}
