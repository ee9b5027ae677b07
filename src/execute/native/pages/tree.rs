//! The leaves of a table: <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
//!
//! Pages are read through SQLite's own handle of the file, so that locks stay where there are some: a
//! file that is opened and closed beside it would take them away. Hence the `unsafe`.
#![allow(unsafe_code)]

use super::record::varint;
use crate::report::LONGEST;
use rusqlite::Connection;
use rusqlite::ffi;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;

/// SQLite's own bound: a tree of so many levels would have more pages than a file can.
const DEEPEST: usize = 20;
/// Bytes of the file's header.
const HEADER: usize = 100;

const INNER: u8 = 5;
const LEAF: u8 = 13;

/// The file behind a connection.
pub(super) struct File<'a> {
    /// It is open as long as the connection is.
    connection: &'a Connection,
    page_len: usize,
    /// The bytes of a page that hold data.
    usable: usize,
    pages: u32,
}

impl<'a> File<'a> {
    /// The file, if it holds the whole database and texts are UTF-8.
    ///
    /// What holds newer pages is a write-ahead log: SQLite reads one that is there whatever the header says.
    pub(super) fn of(connection: &'a Connection) -> Option<Self> {
        let mut file = Self { connection, page_len: HEADER, usable: 0, pages: 1 };
        let mut header = [0; HEADER];
        file.read(1, &mut header)?;
        let page_len = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            len => usize::from(len),
        };
        let is_plain = header.starts_with(b"SQLite format 3\0")
            && page_len.is_power_of_two()
            && page_len >= 512
            && header[18..20] == [1, 1]
            && file.handle(ffi::SQLITE_FCNTL_JOURNAL_POINTER).is_none()
            && header[56..60] == [0, 0, 0, 1];
        file.page_len = page_len;
        file.usable = page_len - usize::from(header[20]);
        file.pages = u32::try_from(file.len()? / page_len as u64).ok()?;
        (is_plain && file.usable >= 480).then_some(file)
    }

    /// Hands number and record of the rows around `from..=to` to `take`, in order, until it says [`None`].
    pub(super) fn leaves(
        &self,
        root: u32,
        range: (i64, i64),
        take: impl FnMut(i64, &[u8]) -> Option<()>,
    ) -> Option<()> {
        let buffers = vec![Vec::new(); DEEPEST];
        let mut walk = Walk {
            file: self,
            range,
            take,
            buffers,
            overflown: Vec::new(),
            left: self.pages,
            left_over: self.pages,
        };
        walk.page(root, 0, (i64::MIN, i64::MAX))
    }

    /// Fills `into` from the beginning of a page.
    fn read(&self, page: u32, into: &mut [u8]) -> Option<()> {
        let begin = i64::from(page.checked_sub(1)?) * self.page_len as i64;
        let len = c_int::try_from(into.len()).ok()?;
        let (file, methods) = self.handle(ffi::SQLITE_FCNTL_FILE_POINTER)?;
        // SAFETY: SQLite fills at most `len` bytes of the file that the connection has open.
        let code = unsafe { methods.xRead?(file, into.as_mut_ptr().cast::<c_void>(), len, begin) };
        (page <= self.pages && code == ffi::SQLITE_OK).then_some(())
    }

    fn len(&self) -> Option<u64> {
        let (file, methods) = self.handle(ffi::SQLITE_FCNTL_FILE_POINTER)?;
        let mut len = 0;
        // SAFETY: SQLite writes the length of the file that the connection has open.
        let code = unsafe { methods.xFileSize?(file, &mut len) };
        (code == ffi::SQLITE_OK).then(|| u64::try_from(len).ok())?
    }

    /// The database's file, or its journal; `None` where it is not open.
    fn handle(&self, which: c_int) -> Option<(*mut ffi::sqlite3_file, &'a ffi::sqlite3_io_methods)> {
        let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
        // SAFETY: the connection is open; SQLite answers with a pointer to its own handle, which it keeps
        // as long as the connection is (`'a`), and whose methods never change.
        unsafe {
            let answer = ptr::from_mut(&mut file).cast::<c_void>();
            let code =
                ffi::sqlite3_file_control(self.connection.handle(), c"main".as_ptr(), which, answer);
            if code != ffi::SQLITE_OK || file.is_null() {
                return None;
            }
            Some((file, (*file).pMethods.as_ref()?))
        }
    }
}

/// A way through a tree.
struct Walk<'a, F> {
    file: &'a File<'a>,
    range: (i64, i64),
    take: F,
    /// A page for each level.
    buffers: Vec<Vec<u8>>,
    /// A record that did not find room in its page.
    overflown: Vec<u8>,
    /// Pages that may still be met: more would be met twice.
    left: u32,
    /// The same of those that records overflow to.
    left_over: u32,
}

impl<F: FnMut(i64, &[u8]) -> Option<()>> Walk<'_, F> {
    /// What stands in and under a page, where the pages above it say that its rows are `bounds.0..=bounds.1`.
    fn page(&mut self, page: u32, depth: usize, bounds: (i64, i64)) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let mut buffer = mem::take(self.buffers.get_mut(depth)?);
        buffer.resize(self.file.page_len, 0);
        self.file.read(page, &mut buffer)?;
        // The first page is no table's, so that none begins behind the file's header.
        let cells = usize::from(u16::from_be_bytes([buffer[3], buffer[4]]));
        match buffer[0] {
            LEAF => (0..cells)
                .try_for_each(|cell| self.row(&buffer, be16(&buffer, 8 + 2 * cell)?, bounds))?,
            INNER => self.below(&buffer, cells, depth, bounds)?,
            _ => return None,
        }
        self.buffers[depth] = buffer;
        Some(())
    }

    /// The pages under an inner page that may hold wanted rows.
    ///
    /// SQLite goes from leaf to leaf, whatever the numbers above them say: they are relied on only where
    /// they are in order.
    fn below(
        &mut self,
        page: &[u8],
        cells: usize,
        depth: usize,
        (mut first, most): (i64, i64),
    ) -> Option<()> {
        let (from, to) = self.range;
        for cell in 0..cells {
            let at = be16(page, 12 + 2 * cell)?;
            let child = be32(page, at)?;
            // The greatest number under the child.
            let last = varint(page, at + 4)?.0.cast_signed();
            if last < first || last >= most {
                return None;
            }
            if last >= from && first <= to {
                self.page(child, depth + 1, (first, last))?;
            }
            first = last + 1;
        }
        if most >= from && first <= to {
            self.page(be32(page, 8)?, depth + 1, (first, most))?;
        }
        Some(())
    }

    fn row(&mut self, page: &[u8], at: usize, (least, most): (i64, i64)) -> Option<()> {
        let (len, at) = varint(page, at)?;
        let (id, at) = varint(page, at)?;
        let (len, id) = (usize::try_from(len).ok()?, id.cast_signed());
        if id < least || id > most || len > LONGEST as usize {
            return None;
        }
        let usable = self.file.usable;
        if len <= usable - 35 {
            return (self.take)(id, page.get(..usable)?.get(at..)?.get(..len)?);
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let most = least + (len - least) % (usable - 4);
        let local = if most <= usable - 35 { most } else { least };
        let mut payload = mem::take(&mut self.overflown);
        payload.clear();
        payload.extend_from_slice(page.get(..usable)?.get(at..)?.get(..local)?);
        self.follow(be32(page, at + local)?, len, &mut payload)?;
        (self.take)(id, &payload)?;
        self.overflown = payload;
        Some(())
    }

    /// Adds what stands on the pages of a chain, until there are `len` bytes.
    fn follow(&mut self, mut page: u32, len: usize, payload: &mut Vec<u8>) -> Option<()> {
        let mut buffer = vec![0; self.file.page_len];
        while payload.len() < len {
            self.left_over = self.left_over.checked_sub(1)?;
            self.file.read(page, &mut buffer)?;
            let more = (len - payload.len()).min(self.file.usable - 4);
            payload.extend_from_slice(buffer.get(4..4 + more)?);
            page = be32(&buffer, 0)?;
        }
        Some(())
    }
}

#[inline]
fn be16(bytes: &[u8], at: usize) -> Option<usize> {
    let two = bytes.get(at..)?.first_chunk::<2>()?;
    Some(usize::from(u16::from_be_bytes(*two)))
}

#[inline]
fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|four| u32::from_be_bytes(*four))
}
