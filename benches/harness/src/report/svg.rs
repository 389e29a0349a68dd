//! A writer of SVG: shapes with attributes, text escaped.

use std::fmt::Write as _;

/// A drawing of a fixed size, in pixels.
pub(super) struct Svg {
    width: f64,
    height: f64,
    title: String,
    body: String,
}

/// Which end of a text its place is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An empty drawing; `title` is what a reader without eyes gets.
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        Self {
            width,
            height,
            title: escaped(title),
            body: String::new(),
        }
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        self.shape(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
            from.0, from.1, to.0, to.1
        ));
    }

    pub(super) fn rectangle(&mut self, corner: (f64, f64), size: (f64, f64), style: &str) {
        self.shape(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" {style}/>",
            corner.0, corner.1, size.0, size.1
        ));
    }

    pub(super) fn circle(&mut self, centre: (f64, f64), radius: f64, style: &str) {
        self.shape(format_args!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\" {style}/>",
            centre.0, centre.1
        ));
    }

    /// A line through `points`.
    pub(super) fn path(&mut self, points: &[(f64, f64)], style: &str) {
        let points: Vec<String> = (points.iter())
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let points = points.join(" ");
        self.shape(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" {style}/>"
        ));
    }

    pub(super) fn text(&mut self, place: (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.shape(format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{text}</text>",
            place.0, place.1
        ));
    }

    fn shape(&mut self, shape: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{shape}");
    }

    /// The drawing as an element of a page.
    pub(super) fn finish(self) -> String {
        let Self {
            width,
            height,
            title,
            body,
        } = self;
        format!(
            "<svg role=\"img\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\"><title>{title}</title>\n{body}</svg>\n"
        )
    }
}

/// Text without the characters that have a meaning in a page.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_its_shapes_and_no_foreign_markup() {
        let mut svg = Svg::new(100.0, 50.0, "a < b");
        svg.path(&[(0.0, 1.0), (2.25, 3.0)], "class=\"x\"");
        svg.text((1.0, 2.0), Anchor::End, "<script>&\"");
        let text = svg.finish();
        assert!(text.starts_with("<svg role=\"img\" width=\"100\" height=\"50\""));
        assert!(text.contains("<title>a &lt; b</title>"));
        assert!(text.contains("<polyline points=\"0.0,1.0 2.2,3.0\""));
        assert!(text.contains(">&lt;script&gt;&amp;&quot;</text>"));
    }
}
