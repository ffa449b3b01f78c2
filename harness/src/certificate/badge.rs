//! A badge: two words on two colours, in SVG, that loads nothing.

use super::Conformance;

/// The badge of a verdict.
#[must_use]
pub fn badge(verdict: Conformance) -> String {
    /// Units of a letter of 11 units, on the average, and the margin beside words.
    const LETTER: usize = 7;
    const MARGIN: usize = 10;
    const LEFT: &str = "CreateOS";
    let right = verdict.words();
    let colour = match verdict {
        Conformance::Conformant => "#1a7f37",
        Conformance::ConformantWithKnownDeviations => "#7d6608",
        Conformance::NotConformant => "#b3261e",
    };
    let width = |words: &str| words.len() * LETTER + 2 * MARGIN;
    let (a, b) = (width(LEFT), width(right));
    let all = a + b;
    let (middle_a, middle_b) = (a / 2, a + b / 2);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{all}" height="20" role="img" aria-label="{LEFT}: {right}">
<title>{LEFT}: {right}</title>
<clipPath id="r"><rect width="{all}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="{a}" height="20" fill="#444"/><rect x="{a}" width="{b}" height="20" fill="{colour}"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="{middle_a}" y="14">{LEFT}</text><text x="{middle_b}" y="14">{right}</text></g>
</svg>
"##
    )
}
