//! What operations are called.

use crate::execute::native::reader::Reader;
use crate::execute::native::texts::Texts;
use foldhash::HashMap;
use nsq_sweep::classify::{Activity, activity};
use nsq_value::error::Result;

/// Shown for a kernel whose name is missing from the export.
const NAMELESS: &str = "(no name)";

/// A name as the export gives it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label {
    /// ID of the name within its kind of operation: string ID for a kernel, kind of copy for a copy, 0 for
    /// the rest; [`crate::execute::native::ids::NO_ID`] if the export gives none.
    pub(super) id: i64,
    /// Place in [`Labels::names`].
    pub(super) name: u32,
    /// The kind of work.
    pub(super) activity: Activity,
}

/// The distinct names of operations.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pub(super) values: Vec<Label>,
    /// Distinct texts.
    pub(super) names: Vec<String>,
    texts: Texts,
    /// By string ID of a kernel's name: its place in `values`.
    kernels: HashMap<i64, u32>,
    /// By ID and text: the place in `values`. Each part of a large table names its operations anew.
    known: HashMap<(i64, u32), u32>,
}

impl Labels {
    /// Adds a name that is not a kernel's, if it is new, and returns its place in `values`.
    pub(super) fn add(&mut self, id: i64, text: &str, activity: Activity) -> u32 {
        let name = self.texts.place(text.as_bytes());
        if name as usize == self.names.len() {
            self.names.push(text.to_owned());
        }
        let next = self.values.len() as u32;
        let place = *self.known.entry((id, name)).or_insert(next);
        if place == next {
            self.values.push(Label { id, name, activity });
        }
        place
    }

    /// The place of a kernel's name in `values`.
    pub(super) fn kernel(&mut self, reader: &mut Reader, id: i64) -> Result<u32> {
        if let Some(&known) = self.kernels.get(&id) {
            return Ok(known);
        }
        let text = reader.text_of(id)?;
        let text = text.map_or(NAMELESS.into(), |text| String::from_utf8_lossy(&text).into_owned());
        let place = self.add(id, &text, activity(&text));
        self.kernels.insert(id, place);
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_several_parts_of_a_table_have_is_one() {
        let mut labels = Labels::default();
        let mut add = |id, text| labels.add(id, text, Activity::Memory);
        let upload = add(1, "[CUDA memcpy Host-to-Device]");
        let fill = add(0, "[CUDA memset]");
        assert_eq!(add(1, "[CUDA memcpy Host-to-Device]"), upload);
        assert_eq!(add(0, "[CUDA memset]"), fill);
        assert_eq!(labels.values.len(), 2);
    }
}
