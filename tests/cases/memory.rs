//! Counts the memory that a thread has in use, to show that hostile input does not ask for much.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a count for each thread.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    /// Bytes in use, and the most there were.
    static USE: Cell<[isize; 2]> = const { Cell::new([0; 2]) };
}

fn count(bytes: isize) {
    // A thread that ends frees memory after its counters are gone.
    let _ = USE.try_with(|counters| {
        let [now, most] = counters.get();
        counters.set([now + bytes, most.max(now + bytes)]);
    });
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What `run` gives, and the most bytes it had in use at once on this thread.
pub fn peak<R>(run: impl FnOnce() -> R) -> (R, usize) {
    let before = USE.with(|counters| {
        let [now, _] = counters.get();
        counters.set([now, now]);
        now
    });
    let result = run();
    let [_, most] = USE.with(Cell::get);
    (result, (most - before).max(0) as usize)
}

#[test]
fn the_count_counts() {
    let (kept, bytes) = peak(|| {
        drop(vec![1_u8; 1 << 20]);
        vec![1_u8; 1 << 10]
    });
    assert!((1 << 20..3 << 19).contains(&bytes) && kept.len() == 1 << 10, "{bytes}");
}
