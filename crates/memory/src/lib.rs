//! The memory of a program: mimalloc's, for Rust and for SQLite. A failed allocation is reported like any other error:
//! by default, Rust aborts. Only programs use this crate: a library is no place for an allocator.
//!
//! This needs `unsafe`, because every allocator does.
#![allow(unsafe_code)]

use mimalloc::MiMalloc;
use nsq_files::whole_file::remove_work_folders;
use nsq_value::error::{EXIT_FAILED, MORE_MEMORY};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// mimalloc. If it fails, the program prints an error and exits.
#[derive(Debug)]
pub struct ExitWhenOutOfMemory;

// SAFETY: all calls go to mimalloc, and a null pointer is never returned.
unsafe impl GlobalAlloc for ExitWhenOutOfMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of this method.
        exit_if_null(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of this method.
        exit_if_null(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller upholds the contract of this method.
        exit_if_null(unsafe { MiMalloc.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of this method.
        unsafe { MiMalloc.dealloc(memory, layout) }
    }
}

/// Prepares the memory of a program. Call it before anything else.
pub fn prepare() {
    return_when_freed();
    allocate_for_sqlite();
    do_not_count();
}

/// Makes mimalloc return freed memory to the system soon. After its usual second, a report of a million kernels takes
/// a tenth more memory; at once costs more time than it saves memory.
fn return_when_freed() {
    use libmimalloc_sys::{mi_option_set, mi_option_t};
    // From mimalloc.h: milliseconds.
    const PURGE_DELAY: mi_option_t = 15;
    // SAFETY: no other thread runs.
    unsafe { mi_option_set(PURGE_DELAY, 10) };
}

/// Makes SQLite allocate with mimalloc, too. It allocates and frees for each part of a statement that it prepares: with
/// glibc's allocator, a small report takes a fifth more time.
fn allocate_for_sqlite() {
    use libmimalloc_sys::{mi_free, mi_malloc, mi_realloc, mi_usable_size};
    use rusqlite::ffi;
    use std::ffi::{c_int, c_void};

    // SAFETY of all: SQLite gives sizes above zero, and memory that these functions returned.
    unsafe extern "C" fn allocate(size: c_int) -> *mut c_void {
        unsafe { mi_malloc(size as usize) }
    }
    unsafe extern "C" fn free(memory: *mut c_void) {
        unsafe { mi_free(memory) }
    }
    unsafe extern "C" fn resize(memory: *mut c_void, size: c_int) -> *mut c_void {
        unsafe { mi_realloc(memory, size as usize) }
    }
    unsafe extern "C" fn size(memory: *mut c_void) -> c_int {
        c_int::try_from(unsafe { mi_usable_size(memory) }).unwrap_or(c_int::MAX)
    }
    // SQLite asks for a multiple of its alignment.
    unsafe extern "C" fn round_up(size: c_int) -> c_int {
        size.saturating_add(7) & !7
    }
    unsafe extern "C" fn begin(_: *mut c_void) -> c_int {
        ffi::SQLITE_OK
    }
    unsafe extern "C" fn end(_: *mut c_void) {}

    let methods = ffi::sqlite3_mem_methods {
        xMalloc: Some(allocate),
        xFree: Some(free),
        xRealloc: Some(resize),
        xSize: Some(size),
        xRoundup: Some(round_up),
        xInit: Some(begin),
        xShutdown: Some(end),
        pAppData: std::ptr::null_mut(),
    };
    // If it cannot be set, all stays as it was.
    // SAFETY: SQLite was not used yet, no other thread runs, and it copies the methods.
    unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) };
}

/// Stops SQLite from counting the memory that it uses, which nothing here asks for: the count is behind a lock that
/// all connections share, and that each allocation takes.
fn do_not_count() {
    use rusqlite::ffi;
    const NO: std::ffi::c_int = 0;
    // If it cannot be set, all stays as it was.
    // SAFETY: SQLite was not used yet, no other thread runs, and this option takes one integer.
    unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, NO) };
}

fn exit_if_null(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        exit_out_of_memory(size);
    }
    memory
}

/// A thread has begun to exit the program.
static IS_EXITING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// It is this thread.
    static EXITS_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Exits the program. An allocator must not unwind, so this removes work folders instead of `Drop`.
#[cold]
fn exit_out_of_memory(size: usize) -> ! {
    if IS_EXITING.swap(true, Ordering::Relaxed) {
        if EXITS_HERE.get() {
            // The cleanup below ran out of memory too.
            std::process::exit(i32::from(EXIT_FAILED));
        }
        // Another thread is exiting the program.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    EXITS_HERE.set(true);
    print_error(size);
    remove_work_folders();
    std::process::exit(i32::from(EXIT_FAILED));
}

/// Prints the error without allocating, and without locks that this thread may already hold.
fn print_error(size: usize) {
    let mut line = [0; 300];
    let mut rest = line.as_mut_slice();
    // Errors are ignored: the program exits anyway.
    let _ = write!(rest, "error: out of memory: cannot allocate {size} bytes\n  help: {MORE_MEMORY}\n");
    let free = rest.len();
    let message = &line[..line.len() - free];
    #[cfg(unix)]
    let _ = rustix::io::write(rustix::stdio::stderr(), message);
    #[cfg(not(unix))]
    let _ = std::io::stderr().write_all(message);
}
