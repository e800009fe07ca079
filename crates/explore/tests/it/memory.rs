//! Memory limits are kept: an allocator that counts is the witness.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rhae_engine::{Game, LevelIndex};
use rhae_explore::{Chances, Components, Limits, NativeLevel, Policy, Search, Stop, explore};
use rhae_games::{Visitor, visit};

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Counts what this thread holds. A list that grows holds both its old and its new memory.
struct Counting;

fn hold(bytes: isize) {
    HELD.set(HELD.get() + bytes);
    PEAK.set(PEAK.get().max(HELD.get()));
}

#[expect(
    unsafe_code,
    reason = "an allocator cannot be written without; this one passes everything on"
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
        let search = Search {
            limits: Limits {
                bytes: self.bytes,
                ..Limits::default()
            },
            ..Search::default()
        };
        let Ok(warm) = explore(
            &level,
            &Search {
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
        assert_eq!(graph.stop(), Some(Stop::Memory));
        let components = Components::of(&graph);
        drop(Chances::of(&graph, &components, Policy::Valid, 0));
        (graph.nodes(), PEAK.get() - before)
    }
}

#[test]
fn a_search_and_its_analysis_stay_within_their_memory() {
    for (packed, bytes) in [(true, 20_000_000), (false, 20_000_000), (true, 90_000_000)] {
        let (nodes, peak) = visit("kq19-v1", Bounded { bytes, packed }).expect("it is registered");
        // Small buffers of batches come on top.
        assert!(
            peak <= bytes as isize + 100_000,
            "{peak} bytes were held, and {bytes} allowed"
        );
        // Ten million states fit into a gigabyte, so a state takes 107 bytes at most.
        assert!(
            !packed || nodes >= bytes / 107,
            "{nodes} states in {bytes} bytes"
        );
    }
}
