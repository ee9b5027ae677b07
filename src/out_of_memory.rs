//! Memory that is not there: said as any other failure is, where Rust's own way is to abort.
//!
//! Hence the `unsafe`: an allocator cannot be without.
#![allow(unsafe_code)]

use nsq::error::{EXIT_FAILED, MORE_MEMORY};
use nsq::report::remove_work_folders;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The system's allocator; where it has nothing left, the program says so and ends.
pub(crate) struct OrEnd;

// SAFETY: the system's allocator answers; that it has nothing left is never passed on.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        or_end(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn or_end(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(size);
    }
    memory
}

static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// Nothing may be unwound from an allocator: what drops would remove is removed here.
#[cold]
fn end(size: usize) -> ! {
    if IS_ENDING.swap(true, Ordering::Relaxed) {
        if ENDS.get() {
            // Cleaning up takes memory, too.
            std::process::exit(i32::from(EXIT_FAILED));
        }
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    ENDS.set(true);
    say(size);
    remove_work_folders();
    std::process::exit(i32::from(EXIT_FAILED));
}

/// Says it without memory, and without the locks that this thread may hold.
fn say(size: usize) {
    let mut line = [0; 300];
    let mut rest = line.as_mut_slice();
    // What cannot be said is no reason to go on.
    let _ =
        write!(rest, "error: out of memory: {size} bytes more are not there\n  help: {MORE_MEMORY}\n");
    let free = rest.len();
    let said = &line[..line.len() - free];
    #[cfg(unix)]
    let _ = rustix::io::write(rustix::stdio::stderr(), said);
    #[cfg(not(unix))]
    let _ = std::io::stderr().write_all(said);
}
