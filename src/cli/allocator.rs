//! The memory of the command: the system's allocator, with large blocks in large pages, which saves most of the time that
//! the first touch of every page takes; and an end with a message and exit code 2 where there is no more memory.
//!
//! Only the program uses it (`#[global_allocator]` in main.rs); users of the library keep their own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::format::bytes::{Advice, advise};

pub struct Memory;

/// Blocks of this many bytes ask for large pages: what a page too many takes is little beside them.
const LARGE: usize = 8 << 20;

/// Set when the system has refused a block.
static REFUSED: AtomicBool = AtomicBool::new(false);

#[inline]
fn noted(block: *mut u8, bytes: usize) -> *mut u8 {
    if bytes >= LARGE || block.is_null() {
        note(block, bytes);
    }
    block
}

#[cold]
fn note(block: *mut u8, bytes: usize) {
    if block.is_null() {
        REFUSED.store(true, Ordering::Relaxed);
    } else {
        advise(block, bytes, Advice::LargePages);
    }
}

// SAFETY: every call goes to the system's allocator as it is; advice changes nothing that is in the memory.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        noted(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        noted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        noted(unsafe { System.realloc(block, layout, size) }, size)
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

/// From here on, a process that has to end because the system refuses memory says so and ends with exit code 2. (Rust
/// prints the number of bytes and aborts, which looks like a fault of the program.)
#[cfg(unix)]
pub fn explain_refusals() {
    extern "C" fn aborted(_: libc::c_int) {
        const TEXT: &[u8] = b"weft: out of memory: the system gives no more; no unfinished output is left. Prune the \
            inputs, set a limit (--max-states, --weight, --nstate, --max-memory, where the command has them), or free memory\n";
        // SAFETY: calls that a signal handler may make, on memory that is always there.
        unsafe {
            if REFUSED.load(Ordering::Relaxed) {
                libc::write(2, TEXT.as_ptr().cast(), TEXT.len());
                libc::_exit(2);
            }
            libc::signal(libc::SIGABRT, libc::SIG_DFL);
            libc::abort();
        }
    }
    // SAFETY: the handler makes only calls that handlers may make.
    unsafe { libc::signal(libc::SIGABRT, aborted as *const () as libc::sighandler_t) };
}
#[cfg(not(unix))]
pub fn explain_refusals() {}
