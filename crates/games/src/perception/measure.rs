//! Random plays, and the shares that `percept` gets right in them.

use std::collections::BTreeMap;

use rhae_engine::{
    Action, ActionKind, Episode, Frame, Game, LevelIndex, Levels, NoFrames, PlayState, Rng, State,
    StateOf,
};
use rhae_percept::{
    Bounds, CellSet, Change, Composites, GridFinder, Matching, Scene, StatusBars, click_candidates,
};

use super::{Annotated, CellGrid};

/// The levels that are played, and the number of plays of each.
const LEVELS: [u8; 4] = [0, 2, 4, 7];
const PLAYS: u64 = 3;
/// The number of actions of a play.
const ACTIONS: usize = 40;
/// The numbers of actions after which status bars are compared with the truth.
const CHECKPOINTS: [usize; 3] = [10, 20, 40];
/// The number of frames from which the grid is recognised.
const GRID_FRAMES: usize = 20;

/// The number of hits among a number of cases.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    hits: u32,
    n: u32,
}

impl Share {
    const fn add(&mut self, is_hit: bool) {
        self.hits += is_hit as u32;
        self.n += 1;
    }

    const fn add_many(&mut self, hits: u32, n: u32) {
        self.hits += hits;
        self.n += n;
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.n == 0 {
            return f.write_str("–");
        }
        // Rounded down, so that 100 % means all.
        let percent = u64::from(self.hits) * 100 / u64::from(self.n);
        write!(f, "{percent} % ({})", self.n)
    }
}

/// What `percept` gets right in one game.
#[derive(Debug, Default)]
pub(super) struct Accuracy {
    /// Cells of indicators that are masked, at each checkpoint.
    recall: [Share; 3],
    /// Masked cells that show the board, at the last checkpoint.
    harm: Share,
    exact: Share,
    close: Share,
    /// Moved things whose largest part is reported as moved by their vector.
    tracked: Share,
    /// Moved things of which some part is.
    tracked_part: Share,
    cell: Share,
    offset: Share,
}

/// One action of a play and the states around it.
struct Played<G: Game> {
    /// Whether the action is the first one after the start of the level.
    is_first: bool,
    action: Action,
    before: StateOf<G>,
    after: StateOf<G>,
}

pub(super) fn header() -> String {
    let columns = [
        "game",
        "bar cells masked after 10 actions",
        "after 20",
        "after 40",
        "masked cells that show the board",
        "things with exact bounds",
        "with an overlap of 80 %",
        "movements",
        "movements of a part",
        "cell size",
        "offset",
    ];
    let line = columns.map(|_| "---").join(" | ");
    format!("| {} |\n| {line} |\n", columns.join(" | "))
}

impl Accuracy {
    pub(super) fn of<G: Annotated>() -> Self {
        let mut accuracy = Self::default();
        let levels = Levels::<G>::new(0);
        for level in LEVELS.map(LevelIndex) {
            let plays: Vec<_> = (0..PLAYS)
                .map(|seed| play::<G>(&levels, level, seed))
                .collect();
            let level = levels.get(level);
            accuracy.measure_bars::<G>(level, &plays);
            for play in &plays {
                accuracy.measure_objects::<G>(level, play);
                accuracy.measure_grid::<G>(level, play);
            }
        }
        accuracy
    }

    pub(super) fn row(&self, game: &str) -> String {
        let [ten, twenty, forty] = self.recall;
        let shares = [
            ten,
            twenty,
            forty,
            self.harm,
            self.exact,
            self.close,
            self.tracked,
            self.tracked_part,
            self.cell,
            self.offset,
        ];
        let cells = shares.map(|share| share.to_string()).join(" | ");
        format!("| {game} | {cells} |\n")
    }

    fn measure_bars<G: Annotated>(&mut self, level: &G::Level, plays: &[Vec<Played<G>>]) {
        let start = G::start(level);
        let mut states = vec![start.clone()];
        states.extend(plays.iter().flatten().map(|played| played.after.clone()));
        let picture = |board: &G::Board, spent: &G::Spent| {
            let state = State {
                board: board.clone(),
                spent: spent.clone(),
            };
            drawn::<G>(level, &state)
        };
        let first = drawn::<G>(level, &start);
        let (mut indicators, mut board) = (CellSet::EMPTY, CellSet::EMPTY);
        for state in &states {
            let other = picture(&start.board, &state.spent);
            indicators.union(&CellSet::difference(first.cells(), other.cells()));
            let other = picture(&state.board, &start.spent);
            board.union(&CellSet::difference(first.cells(), other.cells()));
        }
        let mut rest = board;
        for bar in G::bars(level) {
            let mut bar_cells = CellSet::EMPTY;
            bar_cells.insert_bounds(bar);
            rest.subtract(&bar_cells);
        }
        let mut budgets = board;
        budgets.subtract(&rest);
        indicators.union(&budgets);
        board = rest;
        for play in plays {
            let mut bars = StatusBars::default();
            for (index, played) in play.iter().enumerate() {
                if played.is_first {
                    bars.start_attempt();
                }
                let frames = [&played.before, &played.after].map(|state| drawn::<G>(level, state));
                bars.observe(played.action.kind(), &frames[0], &frames[1]);
                if let Some(at) = CHECKPOINTS.iter().position(|&n| n == index + 1) {
                    self.recall[at].add_many(bars.mask().overlap(&indicators), indicators.len());
                }
            }
            self.harm
                .add_many(bars.mask().overlap(&board), bars.mask().len());
        }
    }

    fn measure_objects<G: Annotated>(&mut self, level: &G::Level, play: &[Played<G>]) {
        let mut composites = Composites::default();
        for played in play {
            let before = Scene::of(&drawn::<G>(level, &played.before));
            let after = Scene::of(&drawn::<G>(level, &played.after));
            let matching = Matching::between(&before, &after);
            composites.observe(&before, &after, &matching);
            let found = candidates(&after, &composites);
            for thing in G::things(level, &played.after) {
                let exact = found.contains(&thing.bounds);
                let close = found.iter().any(|&found| is_close(found, thing.bounds));
                self.exact.add(exact);
                self.close.add(close);
            }
            for movement in G::movements(level, &played.before, played.action, &played.after) {
                let vector = (movement.dx, movement.dy);
                let parts = before
                    .iter()
                    .filter(|(_, object)| object.bounds.joined(movement.from) == movement.from);
                let is_moved = |id| {
                    matching.events().iter().any(|event| {
                        event.before == Some(id) && displacement(event.change) == Some(vector)
                    })
                };
                let (mut largest, mut any) = ((0, false), false);
                for (id, object) in parts {
                    let moved = is_moved(id);
                    any |= moved;
                    largest = largest.max((object.area, moved));
                }
                self.tracked.add(largest.1);
                self.tracked_part.add(any);
            }
        }
    }

    fn measure_grid<G: Annotated>(&mut self, level: &G::Level, play: &[Played<G>]) {
        let mut finder = GridFinder::default();
        for played in play.iter().take(GRID_FRAMES) {
            finder.observe(&drawn::<G>(level, &played.before));
        }
        let Some(truth) = G::grid(level) else { return };
        let grid = finder.grid();
        let found = CellGrid {
            cell: grid.cell,
            offset: (grid.offset_x, grid.offset_y),
        };
        self.cell.add(found.cell == truth.cell);
        self.offset.add(found == truth);
    }
}

/// Plays a level at random; a level that is won or lost starts again.
fn play<G: Game>(levels: &Levels<G>, level: LevelIndex, seed: u64) -> Vec<Played<G>> {
    let mut rng = Rng::new(seed, u64::from(level.0));
    let start = Episode::<G>::at(levels.clone(), level);
    let mut episode = start.clone();
    let mut is_first = true;
    let mut plays = Vec::new();
    while plays.len() < ACTIONS {
        let before = episode.state().clone();
        let action = random_action(&episode, &mut rng);
        episode.act(action, &mut NoFrames);
        if episode.level() != level || episode.status() != PlayState::NotFinished {
            episode = start.clone();
            is_first = true;
            continue;
        }
        plays.push(Played {
            is_first: std::mem::take(&mut is_first),
            action,
            before,
            after: episode.state().clone(),
        });
    }
    plays
}

/// Returns a random action. Half of the clicks are on targets of the rules, the others on objects of
/// the frame.
fn random_action<G: Game>(episode: &Episode<G>, rng: &mut Rng) -> Action {
    let kinds: Vec<ActionKind> = episode.offered().iter().collect();
    let kind = *rng.choose(&kinds).expect("a level offers actions");
    if kind != ActionKind::Action6 {
        return kind.simple().expect("only ACTION6 has coordinates");
    }
    let level = episode.levels().get(episode.level());
    let targets: Vec<(u8, u8)> = G::clicks(level, episode.state()).collect();
    let (x, y) = match rng.choose(&targets) {
        Some(&target) if rng.below(2) == 0 => target,
        _ => {
            let scene = Scene::of(&drawn::<G>(level, episode.state()));
            let candidates = click_candidates(&scene, &CellSet::EMPTY);
            let candidate = rng.choose(&candidates).expect("a frame has objects");
            (candidate.x, candidate.y)
        }
    };
    Action::Action6 { x, y }
}

/// Returns the vector of a movement. A thing may turn while it moves.
const fn displacement(change: Change) -> Option<(i8, i8)> {
    match change {
        Change::Moved { dx, dy } | Change::Turned { dx, dy, .. } => Some((dx, dy)),
        _ => None,
    }
}

fn drawn<G: Game>(level: &G::Level, state: &StateOf<G>) -> Frame {
    let mut frame = Frame::filled(0);
    G::draw(level, state, &mut frame);
    frame
}

/// Returns the bounds of everything that `percept` finds: objects, which include what they enclose,
/// islands and composite sprites.
fn candidates(scene: &Scene, composites: &Composites) -> Vec<Bounds> {
    let mut found: Vec<Bounds> = scene.objects().iter().map(|object| object.bounds).collect();
    found.extend(scene.islands().iter().map(|island| island.bounds));
    let mut sprites: BTreeMap<u16, Bounds> = BTreeMap::new();
    for ((_, object), first) in scene.iter().zip(composites.group(scene)) {
        let sprite = sprites.entry(first.0).or_insert(object.bounds);
        *sprite = sprite.joined(object.bounds);
    }
    found.extend(sprites.into_values());
    found
}

/// Returns whether two rectangles share at least 80 % of the cells that they cover together.
fn is_close(a: Bounds, b: Bounds) -> bool {
    let width = (a.right.min(b.right) + 1).saturating_sub(a.left.max(b.left));
    let height = (a.bottom.min(b.bottom) + 1).saturating_sub(a.top.max(b.top));
    let common = u32::from(width) * u32::from(height);
    let all = u32::from(a.area()) + u32::from(b.area()) - common;
    common * 100 >= all * 80
}
