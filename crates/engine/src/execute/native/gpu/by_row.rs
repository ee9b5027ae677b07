//! Operations by their rows in the raw tables.

use super::answers::Answers;
use crate::execute::native::rows::Rows;
use nsq_sweep::projection::OpKind;

/// The operations of a kind, in the order of their starts, and their rows in its raw table.
pub(super) struct OfKind {
    places: Vec<u32>,
    rows: Rows,
}

impl Answers {
    /// The index of the operation of `kind` with row id `id` in its raw table.
    pub(super) fn place_of(&self, kind: OpKind, id: i64) -> Option<usize> {
        let ops = &self.occupancy.ops;
        let row = |place: u32| ops[place as usize].id;
        let of_kinds = self.by_row.get_or_init(|| {
            OpKind::ALL.map(|kind| {
                let of_kind = (0u32..).zip(ops).filter(|(_, op)| op.kind == kind);
                let places: Vec<u32> = of_kind.map(|(place, _)| place).collect();
                OfKind { rows: Rows::new(places.len(), |at| row(places[at])), places }
            })
        });
        let OfKind { places, rows } = &of_kinds[kind as usize];
        Some(places[rows.find(id, |at| row(places[at]))?] as usize)
    }
}
