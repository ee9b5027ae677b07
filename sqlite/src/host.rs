//! The SQLite that loads the extension.
//!
//! `unsafe` is needed because SQLite calls these functions, and hands over its own by pointer.
#![allow(unsafe_code)]

use crate::offer;
use rusqlite::{Connection, ffi};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::catch_unwind;

unsafe extern "C" {
    /// Takes the host's functions. Returns what is wrong with the host, or null.
    fn nsq_host_begin(api: *const c_void) -> *const c_char;
    /// A copy of the text that the host frees.
    fn nsq_host_message(api: *const c_void, text: *const c_char) -> *mut c_char;
    /// Whether the statement that runs on the connection is to end.
    fn nsq_host_is_over(connection: *mut ffi::sqlite3) -> c_int;
}

/// What SQLite calls for a library of any name.
///
/// # Safety
///
/// SQLite's: the arguments are those of an extension's entry point.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sqlite3_extension_init(
    connection: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    api: *const c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { begin(connection, message, api) }
}

/// As [`sqlite3_extension_init`], under the name for a library `nsq`: for programs with several extensions in one.
///
/// # Safety
///
/// As [`sqlite3_extension_init`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sqlite3_nsq_init(
    connection: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    api: *const c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { begin(connection, message, api) }
}

unsafe fn begin(connection: *mut ffi::sqlite3, message: *mut *mut c_char, api: *const c_void) -> c_int {
    let refuse = |text: &CStr| {
        if !message.is_null() {
            // SAFETY: SQLite's place for a message, which it frees.
            unsafe { *message = nsq_host_message(api, text.as_ptr()) };
        }
        ffi::SQLITE_ERROR
    };
    // SAFETY: SQLite's own functions, which stay where they are.
    let wrong = unsafe { nsq_host_begin(api) };
    if !wrong.is_null() {
        // SAFETY: a literal.
        return refuse(unsafe { CStr::from_ptr(wrong) });
    }
    // SAFETY: the connection is open, and this is its thread. rusqlite does not close it.
    let begun = catch_unwind(|| {
        unsafe { Connection::from_handle(connection) }.and_then(|host| offer::begin(&host))
    });
    match begun {
        // The library of queries is parsed once: without this, SQLite unloads the extension with each connection.
        Ok(Ok(())) => ffi::SQLITE_OK_LOAD_PERMANENTLY,
        Ok(Err(error)) => refuse(&CString::new(format!("nsq: {error}")).unwrap_or_default()),
        Err(_) => refuse(c"nsq failed to begin. Please report it"),
    }
}

/// The connection on which a table is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host(*mut ffi::sqlite3);

impl Host {
    /// # Safety
    ///
    /// The connection outlives what is returned, and its methods are called only on a thread that steps a statement of it.
    pub(crate) unsafe fn new(connection: *mut ffi::sqlite3) -> Self {
        Self(connection)
    }

    /// Whether someone stopped the statement: Ctrl-C in the shell, or a limit of time.
    pub(crate) fn is_interrupted(self) -> bool {
        // SAFETY: the promise of `new`.
        unsafe { nsq_host_is_over(self.0) != 0 }
    }
}
