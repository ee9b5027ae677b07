//! Patterns for the names of NVTX ranges, as in `--nvtx`.

use nsq_value::error::Result;
use nsq_value::glob::Glob;

/// A glob for the names of ranges.
#[derive(Debug, Clone)]
pub struct RangePattern {
    glob: Glob,
    /// The glob without its leading colon, if it has one. Newer nsys prints the default domain as
    /// `:name`.
    bare: Option<Glob>,
    /// The name as displayed: with numbers folded to `*`, or shortened with `…`.
    displayed: Glob,
}

impl RangePattern {
    /// Parses a glob.
    pub fn new(name: &str) -> Result<Self> {
        let bare = name.strip_prefix(':').map(Glob::new).transpose()?;
        Ok(Self { glob: Glob::new(name)?, bare, displayed: Glob::of_shortened(name) })
    }

    /// Whether the pattern matches the printed name, which includes the domain, or the text alone.
    pub fn fits(&self, printed: Option<&str>, text: Option<&str>) -> bool {
        [printed, text].into_iter().flatten().any(|name| self.glob.matches(name))
            || self.bare.as_ref().zip(text).is_some_and(|(bare, text)| bare.matches(text))
    }

    /// Whether a table shows one of these names like this: folded or shortened. Used only if no name matches
    /// the glob, because a folded name such as `block[*]` means something else as a glob.
    pub fn fits_displayed<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> bool {
        names.into_iter().any(|name| self.displayed.matches(name.trim()))
    }

    /// Whether the pattern matches the text without its trailing number: `iteration` matches `iteration
    /// 17`. Used only if no name matches in full.
    pub fn fits_unnumbered(&self, text: Option<&str>) -> bool {
        let text = text.unwrap_or_default();
        let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
        stem.len() < text.len()
            && self.glob.matches(stem.trim_end_matches([' ', '_', '-', '#', '=', ':', '.']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_names_match() {
        let folded = RangePattern::new("block[*] ?").unwrap();
        assert!(!folded.fits(Some("block[1] ?"), None) && folded.fits_displayed(["block[*] ?"]));
        let shortened = RangePattern::new("autograd…[Add]").unwrap();
        assert!(shortened.fits_displayed(["autograd::engine [Add]"]));
        assert!(!shortened.fits_displayed(["autograd::engine Add"]));
    }

    #[test]
    fn a_pattern_matches_printed_names_texts_and_numbered_names() {
        let step = RangePattern::new("step").unwrap();
        assert!(step.fits(Some("step"), Some("step")) && step.fits(Some("d:step"), Some("step")));
        assert!(!step.fits(Some("step 3"), Some("step 3")) && step.fits_unnumbered(Some("step 3")));
        assert!(!step.fits_unnumbered(Some("step")) && !step.fits_unnumbered(None));
        let forward = RangePattern::new(":forward*").unwrap();
        assert!(forward.fits(Some("forward pass"), Some("forward pass")) && !forward.fits(None, None));
    }
}
