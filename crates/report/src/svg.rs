//! Writing SVG: elements with attributes and text, which are escaped in this one place.
//!
//! Drawings are written by code rather than by templates, because their positions are easier to
//! follow next to their computation.

use std::fmt::{Display, Write as _};

use askama::Template;

use crate::html::render;

#[derive(Template)]
#[template(source = "{{ text }}", ext = "svg")]
struct Escaped<'a> {
    text: &'a str,
}

/// Escapes text for SVG and HTML.
pub(crate) fn escaped(text: &str) -> String {
    render(&Escaped { text })
}

/// Attributes with their values.
pub(crate) type Attributes<'a> = [(&'a str, &'a dyn Display)];

/// The content of an element.
#[derive(Clone, Copy)]
pub(crate) enum Content<'a> {
    Empty,
    Text(&'a str),
    /// A `<title>`, which browsers show when the pointer is over the element.
    Title(&'a str),
}

/// A position or length with one decimal place.
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:.1}", self.0)
    }
}

/// The elements of a drawing.
#[derive(Default)]
pub(crate) struct Svg {
    elements: String,
}

impl Svg {
    pub(crate) const fn new() -> Self {
        Self {
            elements: String::new(),
        }
    }

    pub(crate) fn element(
        &mut self,
        name: &str,
        attributes: &Attributes<'_>,
        content: Content<'_>,
    ) {
        self.start_tag(name, attributes);
        let out = &mut self.elements;
        let _ = match content {
            Content::Empty => {
                // Replaces the `>` of the tag.
                out.pop();
                writeln!(out, "/>")
            }
            Content::Text(text) => writeln!(out, "{}</{name}>", escaped(text)),
            Content::Title(text) => {
                writeln!(out, "<title>{}</title></{name}>", escaped(text))
            }
        };
    }

    /// Adds an element that contains the elements that `draw` adds.
    pub(crate) fn group(&mut self, attributes: &Attributes<'_>, draw: impl FnOnce(&mut Self)) {
        self.start_tag("g", attributes);
        draw(self);
        self.elements.push_str("</g>\n");
    }

    fn start_tag(&mut self, name: &str, attributes: &Attributes<'_>) {
        let _ = write!(self.elements, "<{name}");
        for (attribute, value) in attributes {
            let value = escaped(&value.to_string());
            let _ = write!(self.elements, " {attribute}=\"{value}\"");
        }
        self.elements.push('>');
    }

    pub(crate) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let attributes: &Attributes<'_> = &[("class", &class), ("x", &Px(x)), ("y", &Px(y))];
        let skipped = usize::from(class.is_empty());
        self.element("text", &attributes[skipped..], Content::Text(text));
    }

    pub(crate) fn path(&mut self, class: &str, d: &str) {
        self.element("path", &[("class", &class), ("d", &d)], Content::Empty);
    }

    pub(crate) fn titled_path(&mut self, class: &str, d: &str, title: &str) {
        let attributes: &Attributes<'_> = &[("class", &class), ("d", &d)];
        self.element("path", attributes, Content::Title(title));
    }

    pub(crate) fn circle(&mut self, class: &str, center: (f64, f64), r: f64, title: &str) {
        let attributes: &Attributes<'_> = &[
            ("class", &class),
            ("cx", &Px(center.0)),
            ("cy", &Px(center.1)),
            ("r", &r),
        ];
        self.element("circle", attributes, Content::Title(title));
    }

    /// Returns the elements without the root element.
    pub(crate) fn into_elements(self) -> String {
        self.elements
    }

    /// Returns the drawing in a root element of this class. `label` describes it for screen readers.
    /// `style` is a style sheet, or empty.
    pub(crate) fn finish(self, class: &str, size: (f64, f64), label: &str, style: &str) -> String {
        self.in_root(class, size, label, style, false)
    }

    /// Does the same as [`Svg::finish`], for a file that is shown at exactly this size.
    pub(crate) fn finish_fixed(
        self,
        class: &str,
        size: (f64, f64),
        label: &str,
        style: &str,
    ) -> String {
        self.in_root(class, size, label, style, true)
    }

    fn in_root(
        self,
        class: &str,
        (width, height): (f64, f64),
        label: &str,
        style: &str,
        is_fixed: bool,
    ) -> String {
        let attributes: &Attributes<'_> = &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("class", &class),
            ("role", &"img"),
            ("aria-label", &label),
            ("viewBox", &format_args!("0 0 {width:.1} {height:.1}")),
            ("width", &Px(width)),
            ("height", &Px(height)),
        ];
        let count = attributes.len() - if is_fixed { 0 } else { 2 };
        let mut root = Self::new();
        root.start_tag("svg", &attributes[..count]);
        root.elements.push('\n');
        if !style.is_empty() {
            let _ = writeln!(root.elements, "<style>{style}</style>");
        }
        root.elements + &self.elements + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_text_and_titles_are_escaped() {
        let mut svg = Svg::new();
        svg.text("a\"b", 1.04, 2.0, "<b>&");
        svg.titled_path("c", "M0 0", "</title>");
        svg.path("c", "M1 1");
        assert_eq!(
            svg.into_elements(),
            "<text class=\"a&#34;b\" x=\"1.0\" y=\"2.0\">&#60;b&#62;&#38;</text>\n\
             <path class=\"c\" d=\"M0 0\"><title>&#60;/title&#62;</title></path>\n\
             <path class=\"c\" d=\"M1 1\"/>\n"
        );
    }

    #[test]
    fn root_element_contains_style_and_groups() {
        let mut svg = Svg::new();
        svg.group(&[("transform", &"scale(2)")], |svg| {
            svg.circle("dot", (1.0, 2.0), 4.5, "one");
        });
        assert_eq!(
            svg.finish("plot", (720.0, 10.25), "a \"b\"", ".dot{}"),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" \
             aria-label=\"a &#34;b&#34;\" viewBox=\"0 0 720.0 10.2\">\n<style>.dot{}</style>\n\
             <g transform=\"scale(2)\"><circle class=\"dot\" cx=\"1.0\" cy=\"2.0\" r=\"4.5\">\
             <title>one</title></circle>\n</g>\n</svg>\n"
        );
    }
}
