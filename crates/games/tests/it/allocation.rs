//! Tests that a step does not allocate once the buffers have grown.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rhae_engine::{Episode, FrameBuffer, Game, LevelIndex, Levels, Rng};
use rhae_explore::random_action;
use rhae_games::Visitor;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// Counting allocations needs a global allocator, whose trait is unsafe. This one counts and
// forwards to the system allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct CountAllocations;

impl Visitor for CountAllocations {
    type Output = ();

    fn visit<G: Game>(self) {
        let levels = Levels::<G>::new(0);
        // A level is built, which allocates, when it is first played.
        for level in (0..levels.count()).map(LevelIndex) {
            levels.get(level);
        }
        for level in (0..levels.count()).map(LevelIndex) {
            let mut episode = Episode::at(levels.clone(), level);
            let mut frames = FrameBuffer::with_capacity(64);
            let mut rng = Rng::new(9, 0);
            let mut play = |actions: u32| {
                for _ in 0..actions {
                    let action = random_action(&episode, &mut rng);
                    frames.clear();
                    episode.act(action, &mut frames);
                }
            };
            play(2_000);
            let before = ALLOCATIONS.with(Cell::get);
            play(2_000);
            let during = ALLOCATIONS.with(Cell::get) - before;
            assert_eq!(
                during,
                0,
                "{} level {level}: stepping allocates",
                G::FACTS.id
            );
        }
    }
}

#[test]
fn stepping_does_not_allocate_after_warm_up() {
    for entry in rhae_games::ALL {
        rhae_games::visit(entry.facts.id, CountAllocations).expect("the registry lists it");
    }
}
