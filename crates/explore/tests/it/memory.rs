//! Tests that searches respect their memory limit, measured by a counting allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rhae_engine::{Game, LevelIndex};
use rhae_explore::{
    Chances, Components, Limits, NativeLevel, Policy, SearchOptions, StopReason, explore,
};
use rhae_games::{Visitor, visit};

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Counts the bytes that the current thread holds. While a list grows, both its old and its new
/// memory count.
struct Counting;

fn hold(bytes: isize) {
    HELD.set(HELD.get() + bytes);
    PEAK.set(PEAK.get().max(HELD.get()));
}

#[expect(
    unsafe_code,
    reason = "`GlobalAlloc` is an unsafe trait; this allocator forwards to the system allocator"
)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        hold(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Bounded {
    bytes: usize,
    packed: bool,
}

impl Visitor for Bounded {
    type Output = (usize, isize);

    fn visit<G: Game>(self) -> (usize, isize) {
        let level = NativeLevel::<G>::new(0, LevelIndex(7));
        let level = if self.packed { level } else { level.hashed() };
        let search = SearchOptions {
            limits: Limits {
                bytes: self.bytes,
                ..Limits::default()
            },
            ..SearchOptions::default()
        };
        let Ok(warm) = explore(
            &level,
            &SearchOptions {
                limits: Limits {
                    nodes: 10,
                    ..Limits::default()
                },
                ..search
            },
            |_| true,
        );
        drop(warm);
        let before = HELD.get();
        PEAK.set(before);
        let Ok(graph) = explore(&level, &search, |_| true);
        assert_eq!(graph.stop(), Some(StopReason::Memory));
        let components = Components::of(&graph);
        drop(Chances::of(&graph, &components, Policy::Valid, 0));
        (graph.nodes(), PEAK.get() - before)
    }
}

#[test]
fn search_and_analysis_stay_within_the_memory_limit() {
    for (packed, bytes) in [(true, 20_000_000), (false, 20_000_000), (true, 90_000_000)] {
        let (nodes, peak) =
            visit("kq19-v1", Bounded { bytes, packed }).expect("the game is registered");
        // The small buffers of batches are not part of the limit.
        assert!(
            peak <= bytes as isize + 100_000,
            "{peak} bytes were held, but the limit is {bytes}"
        );
        // Ten million states must fit into a gigabyte, so a state takes at most 107 bytes.
        assert!(
            !packed || nodes >= bytes / 107,
            "{nodes} states in {bytes} bytes"
        );
    }
}
