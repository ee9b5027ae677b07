//! Standard output and standard error. An answer that gets lost is an error.
//!
//! Rust opens `/dev/null` before `main` if a shell closed the descriptor (`>&-`), and counts what a descriptor for
//! reading refuses as written. So the descriptor is looked at earlier, and written without Rust's own stream.

use nsq_value::error::{Error, Result};
use std::io::{self, Write};

/// Prints a line on standard error. If that fails, there is no place left to say so.
pub fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Whether the program was started with a standard output.
pub fn has_standard_output() -> bool {
    #[cfg(unix)]
    return !started_without::check();
    #[cfg(not(unix))]
    true
}

/// Standard output.
///
/// # Errors
///
/// [`Error::Output`] if the program was started without one.
#[cfg(unix)]
pub fn standard_output() -> Result<std::fs::File> {
    use std::os::fd::AsFd;
    if !has_standard_output() {
        return Err(Error::Output(rustix::io::Errno::BADF.into()));
    }
    let own = io::stdout().as_fd().try_clone_to_owned();
    own.map(std::fs::File::from).map_err(Error::Output)
}

/// Standard output.
///
/// # Errors
///
/// None on this system.
#[cfg(not(unix))]
pub fn standard_output() -> Result<io::Stdout> {
    Ok(io::stdout())
}

/// Whether the program was started without standard output.
///
/// This needs `unsafe`, because only what the linker puts among the constructors runs before Rust's runtime.
#[cfg(unix)]
#[allow(unsafe_code)]
mod started_without {
    use std::sync::atomic::{AtomicBool, Ordering};

    static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    // SAFETY: a constructor is a function of C's calling convention. This one asks the system about a number, and
    // uses nothing of Rust's runtime.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()) == Err(rustix::io::Errno::BADF);
        IS_CLOSED.store(closed, Ordering::Relaxed);
    }

    pub(super) fn check() -> bool {
        IS_CLOSED.load(Ordering::Relaxed)
    }
}
