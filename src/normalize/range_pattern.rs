//! What `--nvtx` means by a name: which names of ranges a pattern fits.

use crate::error::Result;
use crate::glob::Glob;

/// A glob over names of ranges.
#[derive(Debug, Clone)]
pub struct RangePattern {
    glob: Glob,
    /// Without a colon before it, as newer nsys prints the default domain.
    bare: Option<Glob>,
}

impl RangePattern {
    /// Reads a glob.
    pub fn new(name: &str) -> Result<Self> {
        let bare = name.strip_prefix(':').map(Glob::new).transpose()?;
        Ok(Self { glob: Glob::new(name)?, bare })
    }

    /// Fits the name as it is printed, with its domain, or its text alone.
    pub fn fits(&self, printed: Option<&str>, text: Option<&str>) -> bool {
        [printed, text].into_iter().flatten().any(|name| self.glob.matches(name))
            || self.bare.as_ref().zip(text).is_some_and(|(bare, text)| bare.matches(text))
    }

    /// Fits the text without the number at its end: `iteration` means `iteration 17` where nothing
    /// is called just so.
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
    fn a_pattern_fits_printed_names_texts_and_numbered_ones() {
        let step = RangePattern::new("step").unwrap();
        assert!(step.fits(Some("step"), Some("step")) && step.fits(Some("d:step"), Some("step")));
        assert!(!step.fits(Some("step 3"), Some("step 3")) && step.fits_unnumbered(Some("step 3")));
        assert!(!step.fits_unnumbered(Some("step")) && !step.fits_unnumbered(None));
        let forward = RangePattern::new(":forward*").unwrap();
        assert!(forward.fits(Some("forward pass"), Some("forward pass")) && !forward.fits(None, None));
    }
}
