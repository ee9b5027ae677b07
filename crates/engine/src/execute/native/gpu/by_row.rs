//! Operations by their rows in the raw tables.

use super::answers::Answers;
use nsq_sweep::projection::OpKind;

impl Answers {
    /// The index of the operation of `kind` with row id `id` in its raw table.
    pub(super) fn place_of(&self, kind: OpKind, id: i64) -> Option<usize> {
        let (ops, by_row) = (&self.occupancy.ops, self.by_row());
        let row = |&index: &u32| (ops[index as usize].kind, ops[index as usize].id);
        let (_, first, begin) = self.first_rows().iter().find(|(of, ..)| *of == kind)?;
        // Row ids mostly follow each other without gaps.
        let likely =
            id.checked_sub(*first).and_then(|after| begin.checked_add(usize::try_from(after).ok()?));
        let likely = likely.and_then(|place| by_row.get(place));
        if let Some(index) = likely.filter(|index| row(index) == (kind, id)) {
            return Some(*index as usize);
        }
        let place = by_row.binary_search_by_key(&(kind, id), row).ok()?;
        Some(by_row[place] as usize)
    }

    /// Of each kind of operations: the first row id, and its place in `by_row`.
    fn first_rows(&self) -> &[(OpKind, i64, usize)] {
        self.first_rows.get_or_init(|| {
            let op = |index: u32| &self.occupancy.ops[index as usize];
            let kinds = self.by_row().chunk_by(|&a, &b| op(a).kind == op(b).kind);
            let begins = kinds.scan(0, |begin, of_kind| {
                let first = op(of_kind[0]);
                let found = (first.kind, first.id, *begin);
                *begin += of_kind.len();
                Some(found)
            });
            begins.collect()
        })
    }

    fn by_row(&self) -> &[u32] {
        self.by_row.get_or_init(|| {
            let ops = &self.occupancy.ops;
            let mut by_row: Vec<u32> = (0..ops.len() as u32).collect();
            by_row.sort_unstable_by_key(|&index| (ops[index as usize].kind, ops[index as usize].id));
            by_row
        })
    }
}
