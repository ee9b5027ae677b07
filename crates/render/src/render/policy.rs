//! What the Content-Security-Policy of an HTML page names.

use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};

/// The script or style sheet with this text: `'sha256-…'`.
pub fn csp_source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}
