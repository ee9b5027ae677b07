//! Reports a failed memory allocation like any other error: by default, Rust aborts. And returns freed memory
//! to the system.
//!
//! This needs `unsafe`, because every allocator does.
#![allow(unsafe_code)]

use crate::whole_file::remove_work_folders;
use nsq_value::error::{EXIT_FAILED, MORE_MEMORY};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The system's allocator. If it fails, the program prints an error and exits.
#[derive(Debug)]
pub struct ExitWhenOutOfMemory;

// SAFETY: all calls go to the system's allocator, and a null pointer is never returned.
unsafe impl GlobalAlloc for ExitWhenOutOfMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of this method.
        exit_if_null(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of this method.
        exit_if_null(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller upholds the contract of this method.
        exit_if_null(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of this method.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Prepares the memory of a program. Call it before anything else.
pub fn prepare() {
    return_when_freed();
    do_not_count();
}

/// Makes glibc return large blocks to the system when they are freed. By default it keeps blocks of up to 32 MiB
/// once such a block was freed: after an import of many lists, a fifth more memory than nsq uses. And makes it ask for
/// memory in steps: SQLite allocates and frees much for each statement, so that the end of the heap went back and forth,
/// which took a twentieth of the time of a small report.
fn return_when_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            safe fn mallopt(option: c_int, value: c_int) -> c_int;
        }
        // From malloc.h. Larger blocks are mapped, and unmapped when they are freed.
        const M_MMAP_THRESHOLD: c_int = -3;
        const LARGE: c_int = 128 << 10;
        // How much more than needed is asked for at the end of the heap.
        const M_TOP_PAD: c_int = -2;
        const STEP: c_int = 4 << 20;
        // It returns 0 if it could not, and then all stays as it was.
        mallopt(M_MMAP_THRESHOLD, LARGE);
        mallopt(M_TOP_PAD, STEP);
    }
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
