//! Paths as text.

use super::answers::Answers;
use nsq_sweep::projection::NONE;
use sha2::{Digest, Sha256};

/// Names that a path shows. Texts of deep paths would grow with the square of the depth.
const MOST_NAMES: usize = 64;

impl Answers {
    /// The folded names along a path, joined with slashes. Of a deep path, those in the middle are left out.
    pub(super) fn path_text(&self, path: u32) -> String {
        let (paths, layers) = (&self.paths().paths, &self.layers().layers);
        let mut chain = Vec::new();
        let mut at = path;
        while let Some(path) = paths.get(at as usize) {
            chain.push(path.layer);
            at = path.parent;
        }
        chain.reverse();
        let joined = |chain: &[u32]| {
            let names: Vec<&str> = chain.iter().map(|layer| layers[*layer as usize].as_str()).collect();
            names.join(" / ")
        };
        if chain.len() <= MOST_NAMES {
            return joined(&chain);
        }
        let (first, rest) = chain.split_at(MOST_NAMES / 2);
        let (middle, last) = rest.split_at(rest.len() - MOST_NAMES / 2);
        let [a, b, c, d] = self.path_marks()[path as usize];
        format!(
            "{} / … {} names, {a:02x}{b:02x}{c:02x}{d:02x} … / {}",
            joined(first),
            middle.len(),
            joined(last)
        )
    }

    /// For each path, digits that depend on all its names, and on nothing else.
    fn path_marks(&self) -> &[[u8; 4]] {
        self.path_marks.get_or_init(|| {
            let layers = &self.layers().layers;
            let mut hashes: Vec<[u8; 32]> = Vec::new();
            // A parent comes before its children.
            for path in &self.paths().paths {
                let mut hash = Sha256::new();
                if path.parent != NONE {
                    hash.update(hashes[path.parent as usize]);
                }
                hash.update(&layers[path.layer as usize]);
                hashes.push(hash.finalize().into());
            }
            hashes.iter().map(|hash| [hash[0], hash[1], hash[2], hash[3]]).collect()
        })
    }
}
