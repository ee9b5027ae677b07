//! The string table of the export.

use std::collections::HashMap;

/// Number of distinct kernel names, as in a large training run.
pub(super) const KERNELS: i64 = 400;

/// Texts with ids in the order of first use. Kernel names come first.
pub(super) struct Strings {
    ids: HashMap<String, i64>,
}

impl Strings {
    pub(super) fn new() -> Self {
        let mut strings = Self { ids: HashMap::new() };
        for n in 0..KERNELS {
            let long = "at::native::BinaryFunctor<float, float, float>, ".repeat(1 + (n % 4) as usize);
            strings.id(&format!("void kernel_{n}<{long}{n}>(int, T{n})"));
        }
        for n in 0..KERNELS {
            strings.id(&format!("kernel_{n}"));
        }
        strings
    }

    pub(super) fn id(&mut self, text: &str) -> i64 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.ids.len() as i64;
        self.ids.insert(text.to_owned(), id);
        id
    }

    pub(super) fn in_order(self) -> Vec<(i64, String)> {
        let mut rows: Vec<_> = self.ids.into_iter().map(|(text, id)| (id, text)).collect();
        rows.sort();
        rows
    }
}
