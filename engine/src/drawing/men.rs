//! A man as an SVG fragment: body, signs, letter, in the colours of its side.

use super::reach::Reach;
use super::shape::{Body, Compass, bent_line};
use super::svg::{Facing, escaped, number};
use crate::variant::Variant;
use crate::variant::rules::{Colour, Unit};

/// What a unit looks like.
pub(super) struct Look {
    letter: char,
    body: Body,
    reach: Reach,
    compass: Compass,
}

/// Colours of a side's men.
struct Inks {
    fill: &'static str,
    line: &'static str,
    /// Letters and lines inside.
    inside: &'static str,
}

const INKS: [Inks; 2] = [
    Inks { fill: "#fffefa", line: "#2b2620", inside: "#2b2620" },
    Inks { fill: "#3b3a45", line: "#14131a", inside: "#ffffff" },
];

/// Height of a capital in parts of the size of its letters, in common fonts; so a letter is put in the middle without asking a font.
const CAPITAL: f64 = 0.72;

/// Radius of a sign.
const SIGN: i32 = 15;

/// Where signs are, clear of the letter: lower right, lower left, upper right.
const SIGNS: [(i32, i32); 3] = [(83, 80), (17, 80), (83, 20)];

impl Look {
    pub fn of(variant: &Variant, unit: Unit) -> Self {
        let reach = Reach::of(variant, unit);
        let body = Body::of(variant, unit, &reach);
        Self { letter: variant.unit(unit).letter, body, compass: Compass::of(body, &reach), reach }
    }

    /// Everything but the letter.
    pub fn figure(&self, colour: Colour, facing: Facing) -> String {
        let Inks { fill, line, inside } = INKS[colour.index()];
        let outline = self.body.outline(&self.reach, facing);
        let mut figure = format!(
            "<path d=\"{outline}\" fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"10\" stroke-linejoin=\"round\"/>\
             <path d=\"{outline}\" fill=\"{fill}\"/>"
        );
        if !self.body.inner_lines().is_empty() {
            figure.push_str(&stroked(self.body.inner_lines(), inside, 5));
        }
        for (sign, centre) in self.signs().zip(SIGNS) {
            let (x, y) = centre;
            figure.push_str(&format!(
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{SIGN}\" fill=\"{fill}\" stroke=\"{inside}\" stroke-width=\"3\"/>{}",
                self.draw_sign(sign, centre, Pen { facing, ink: inside })
            ));
        }
        figure
    }

    /// The whole man.
    pub fn fragment(&self, colour: Colour, facing: Facing) -> String {
        let at = self.body.letter();
        let baseline = number(f64::from(at.y) + f64::from(at.size) * CAPITAL / 2.0);
        format!(
            "{}<text x=\"{}\" y=\"{baseline}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"middle\">{}</text>",
            self.figure(colour, facing),
            at.x,
            at.size,
            INKS[colour.index()].inside,
            escaped(&self.letter.to_string())
        )
    }

    fn signs(&self) -> impl Iterator<Item = Sign> {
        let compass = (!self.compass.is_empty()).then_some(Sign::Compass);
        let hop = self.reach.hops_somewhere().then_some(Sign::Hop);
        let bent = self.reach.bent.is_some().then_some(Sign::Bent);
        compass.into_iter().chain(hop).chain(bent)
    }

    fn draw_sign(&self, sign: Sign, centre: (i32, i32), pen: Pen) -> String {
        let Pen { facing, ink } = pen;
        let (x, y) = centre;
        match sign {
            Sign::Compass => {
                let point = |(x, y): (f64, f64)| {
                    format!("<circle cx=\"{}\" cy=\"{}\" r=\"2.4\" fill=\"{ink}\"/>", number(x), number(y))
                };
                let points: String = self.compass.points(centre, facing).into_iter().map(point).collect();
                let rays = self.compass.rays(centre, facing);
                if rays.is_empty() { points } else { stroked(&rays, ink, 4) + &points }
            }
            Sign::Hop => {
                let arch = format!("M{} {}a9 9 0 0 1 18 0", x - 9, y + 2);
                let man = format!("<circle cx=\"{x}\" cy=\"{}\" r=\"3\" fill=\"{ink}\"/>", y + 5);
                stroked(&arch, ink, 4) + &man
            }
            Sign::Bent => {
                let squares = self.reach.bent.as_deref().unwrap_or_default();
                stroked(&bent_line(squares, centre, facing), ink, 4)
            }
        }
    }
}

/// A small sign beside the letter.
#[derive(Clone, Copy)]
enum Sign {
    /// Steps, slides and leaps around.
    Compass,
    /// Over men.
    Hop,
    /// By ways that are not straight.
    Bent,
}

/// How a sign is drawn.
#[derive(Clone, Copy)]
struct Pen {
    facing: Facing,
    ink: &'static str,
}

fn stroked(path: &str, ink: &str, width: u8) -> String {
    format!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>"
    )
}
