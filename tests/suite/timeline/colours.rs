//! The colours of the timeline: any two of a scale can be told apart, also by the colour-blind.
//!
//! Sight is simulated with the matrices of Machado, Oliveira and Fernandes (2009) at full severity, and differences are
//! measured in OKLab, times 100.

use crate::support::project;
use std::collections::BTreeMap;

type Colour = [f64; 3];

const NORMAL: [Colour; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const PROTANOPIA: [Colour; 3] = [
    [0.152_286, 1.052_583, -0.204_868],
    [0.114_503, 0.786_281, 0.099_216],
    [-0.003_882, -0.048_116, 1.051_998],
];
const DEUTERANOPIA: [Colour; 3] = [
    [0.367_322, 0.860_646, -0.227_968],
    [0.280_085, 0.672_501, 0.047_413],
    [-0.011_820, 0.042_940, 0.968_881],
];

/// The colours that the style sheet gives to variables, by name; of two, that of the light page.
fn variables() -> BTreeMap<String, String> {
    let css = std::fs::read_to_string(project("queries/pages/timeline/page.css")).unwrap();
    let mut found = BTreeMap::new();
    for piece in css.split("--").skip(1) {
        let Some((name, rest)) = piece.split_once(':') else { continue };
        let Some(hex) = rest.strip_prefix('#').and_then(|rest| rest.get(..6)) else { continue };
        if hex.chars().all(|letter| letter.is_ascii_hexdigit()) {
            found.entry(name.to_owned()).or_insert_with(|| hex.to_owned());
        }
    }
    found
}

/// Linear light of a colour such as `009e73`.
fn linear(hex: &str) -> Colour {
    [0, 2, 4].map(|at| {
        let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

fn times(matrix: &[Colour; 3], colour: Colour) -> Colour {
    matrix.map(|row| row.iter().zip(colour).map(|(a, b)| a * b).sum())
}

fn oklab(colour: Colour) -> Colour {
    let cones = times(
        &[
            [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
            [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
            [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
        ],
        colour,
    )
    .map(f64::cbrt);
    times(
        &[
            [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
            [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
            [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
        ],
        cones,
    )
}

fn difference(one: &str, other: &str, sight: &[Colour; 3]) -> f64 {
    let seen = |hex: &str| oklab(times(sight, linear(hex)).map(|value| value.clamp(0.0, 1.0)));
    let (one, other) = (seen(one), seen(other));
    let squares: f64 = one.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
    100.0 * squares.sqrt()
}

fn luminance(hex: &str) -> f64 {
    let [red, green, blue] = linear(hex);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The distinct colours of a scale.
fn scale(prefix: &str) -> BTreeMap<String, String> {
    let mut distinct: BTreeMap<String, String> = BTreeMap::new();
    for (name, hex) in variables() {
        if name.starts_with(prefix) {
            distinct.entry(hex).or_insert(name);
        }
    }
    distinct
}

#[test]
fn colours_of_a_scale_differ_for_everybody() {
    let mut classes = scale("class-");
    // Communication and copies keep their colours where work is coloured by class.
    for name in ["work-communication", "work-copy"] {
        classes.insert(variables()[name].clone(), name.to_owned());
    }
    for (colours, count, least) in [
        (scale("work-"), 5, 10.5),
        (scale("idle-"), 10, 14.0),
        (scale("state-"), 4, 14.0),
        (classes, 9, 10.5),
    ] {
        assert_eq!(colours.len(), count, "{colours:?}");
        for (sight, word) in
            [(NORMAL, "normal"), (PROTANOPIA, "protanopia"), (DEUTERANOPIA, "deuteranopia")]
        {
            for (one, name) in &colours {
                for (other, other_name) in colours.iter().filter(|(other, _)| *other > one) {
                    let found = difference(one, other, &sight);
                    assert!(found >= least, "{word}: {name} and {other_name} differ by {found:.1}");
                }
            }
        }
    }
}

#[test]
fn text_on_slices_can_be_read() {
    let variables = variables();
    let (dark, light) = (&variables["ink-dark"], "ffffff");
    for (name, hex) in &variables {
        let is_slice = ["work-", "idle-", "state-", "named-", "class-", "step", "phase-", "find"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        if is_slice {
            // As in colour.js: light text where the colour is dark.
            let powered = |at: usize| {
                (f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0).powf(2.2)
            };
            let light_of = 0.2126 * powered(0) + 0.7152 * powered(2) + 0.0722 * powered(4);
            let ink = if light_of < 0.187 { light } else { dark };
            let found = contrast(hex, ink);
            assert!(found >= 4.5, "{name}: the contrast of its text is {found:.2}");
        }
    }
}
