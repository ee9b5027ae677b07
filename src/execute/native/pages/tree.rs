//! Walks the B-tree of a table: <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
//!
//! Pages are read through SQLite's own file handle, which needs `unsafe`. Opening and closing the file a
//! second time would drop the POSIX locks that SQLite holds on it.
#![allow(unsafe_code)]

use super::record::varint;
use crate::report::LONGEST;
use rusqlite::Connection;
use rusqlite::ffi;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;

/// SQLite's own limit: a deeper tree would have more pages than a file can hold.
const MAX_DEPTH: usize = 20;
/// Length of the file header in bytes.
const HEADER: usize = 100;

const INNER: u8 = 5;
const LEAF: u8 = 13;

/// The file behind a connection.
pub(super) struct File<'a> {
    /// The file stays open as long as the connection does.
    connection: &'a Connection,
    page_len: usize,
    /// The number of bytes of a page that hold data.
    usable: usize,
    pages: u32,
}

impl<'a> File<'a> {
    /// The file, if it holds the whole database and its texts are UTF-8.
    ///
    /// A write-ahead log could hold newer pages. SQLite reads an existing log even if the file's header does
    /// not announce one.
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

    /// Calls `take` with the row number and record of each row on the leaves that cover `range`, in order,
    /// until it returns [`None`]. Some rows may lie outside the range.
    pub(super) fn leaves(
        &self,
        root: u32,
        range: (i64, i64),
        take: impl FnMut(i64, &[u8]) -> Option<()>,
    ) -> Option<()> {
        let buffers = vec![Vec::new(); MAX_DEPTH];
        let mut walk = Walk {
            file: self,
            range,
            take,
            buffers,
            overflow: Vec::new(),
            pages_left: self.pages,
            overflow_pages_left: self.pages,
        };
        walk.page(root, 0, (i64::MIN, i64::MAX))
    }

    /// Fills `into` from the start of a page.
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

    /// The handle of the database file or of its journal; `None` if it is not open.
    fn handle(&self, which: c_int) -> Option<(*mut ffi::sqlite3_file, &'a ffi::sqlite3_io_methods)> {
        let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
        // SAFETY: the connection is open. SQLite returns a pointer to its own handle, which lives as long as
        // the connection (`'a`); the handle's methods never change.
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

/// A walk through a B-tree.
struct Walk<'a, F> {
    file: &'a File<'a>,
    range: (i64, i64),
    take: F,
    /// One page for each level.
    buffers: Vec<Vec<u8>>,
    /// Buffer for a record that does not fit in its page.
    overflow: Vec<u8>,
    /// Pages that may still be visited. Running out means that a page was visited twice.
    pages_left: u32,
    /// The same for overflow pages.
    overflow_pages_left: u32,
}

impl<F: FnMut(i64, &[u8]) -> Option<()>> Walk<'_, F> {
    /// Visits a page and those below it. According to its parents its row numbers are in
    /// `bounds.0..=bounds.1`.
    fn page(&mut self, page: u32, depth: usize, bounds: (i64, i64)) -> Option<()> {
        self.pages_left = self.pages_left.checked_sub(1)?;
        let mut buffer = mem::take(self.buffers.get_mut(depth)?);
        buffer.resize(self.file.page_len, 0);
        self.file.read(page, &mut buffer)?;
        // Page 1 holds the schema, not a table of ours, so no page here starts after the file header.
        let cells = usize::from(u16::from_be_bytes([buffer[3], buffer[4]]));
        match buffer[0] {
            LEAF => (0..cells)
                .try_for_each(|cell| self.row(&buffer, be16(&buffer, 8 + 2 * cell)?, bounds))?,
            INNER => self.children(&buffer, cells, depth, bounds)?,
            _ => return None,
        }
        self.buffers[depth] = buffer;
        Some(())
    }

    /// Visits the children of an inner page that may hold wanted rows.
    ///
    /// SQLite walks from leaf to leaf and ignores the keys above them. So the keys are trusted only if they
    /// are in order.
    fn children(
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
            // The largest row number under the child.
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
        let mut payload = mem::take(&mut self.overflow);
        payload.clear();
        payload.extend_from_slice(page.get(..usable)?.get(at..)?.get(..local)?);
        self.read_overflow(be32(page, at + local)?, len, &mut payload)?;
        (self.take)(id, &payload)?;
        self.overflow = payload;
        Some(())
    }

    /// Appends the data of a chain of overflow pages, until `payload` has `len` bytes.
    fn read_overflow(&mut self, mut page: u32, len: usize, payload: &mut Vec<u8>) -> Option<()> {
        let mut buffer = vec![0; self.file.page_len];
        while payload.len() < len {
            self.overflow_pages_left = self.overflow_pages_left.checked_sub(1)?;
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
