//! Tests that perception does not allocate once its buffers have grown.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rhae_engine::{Action, ActionKind, Catalog, Frame, Rng};
use rhae_games::Builtin;
use rhae_percept::{GridFinder, Matching, Scene, StatusBars};

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

/// What an agent keeps between two frames.
#[derive(Default)]
struct Perceiver {
    before: Scene,
    after: Scene,
    matching: Matching,
    bars: StatusBars,
    grid: GridFinder,
}

impl Perceiver {
    /// Perceives the frames of one attempt, and returns the number of allocations after its first
    /// frame: an attempt allocates what its first frame needs.
    fn perceive(&mut self, frames: &[(ActionKind, Frame)]) -> u64 {
        self.bars.start_attempt();
        let mut started = ALLOCATIONS.with(Cell::get);
        for (at, pair) in frames.windows(2).enumerate() {
            let ((_, old), (kind, new)) = (&pair[0], &pair[1]);
            self.before.read(old);
            self.after.read(new);
            self.matching.update(&self.before, &self.after);
            self.bars.observe(*kind, old, new);
            self.grid.observe(new);
            if at == RECENT {
                started = ALLOCATIONS.with(Cell::get);
            }
        }
        ALLOCATIONS.with(Cell::get) - started
    }
}

/// The number of actions after which the status bars remember no further frame.
const RECENT: usize = 16;

/// Returns the settled frames of a random play.
fn random_play(id: &str) -> Vec<(ActionKind, Frame)> {
    let mut environment = Builtin.open(id, 0).unwrap();
    let mut rng = Rng::new(3, 0);
    let mut frames = Vec::new();
    for _ in 0..80 {
        let observation = environment.observation();
        let kinds: Vec<ActionKind> = observation.available.iter().collect();
        let kind = *rng.choose(&kinds).unwrap_or(&ActionKind::Reset);
        frames.push((observation.action.kind(), observation.settled().clone()));
        let action = kind.simple().unwrap_or_else(|| Action::Action6 {
            x: rng.below(64) as u8,
            y: rng.below(64) as u8,
        });
        environment.act(action).unwrap();
    }
    frames
}

#[test]
fn frames_are_perceived_without_allocation_after_warm_up() {
    for info in Builtin.list() {
        let frames = random_play(info.id.as_str());
        let mut perceiver = Perceiver::default();
        perceiver.perceive(&frames);
        assert_eq!(perceiver.perceive(&frames), 0, "{}", info.id);
    }
}
