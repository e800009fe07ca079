//! Status bars and counters, recognised by how they change.
//!
//! A status bar is a strip of cells that is used up from one end, whatever the player does: some
//! cells next to the border between its two colours change, once, and stay. A counter is a small
//! area near the edge of the frame that changes with almost every action and does not return to the
//! picture that it just left. Neither shape nor position alone is enough: a wall can look like a
//! bar, and so can a trail that a moving object leaves. A trail, however, follows the keys, a wall
//! does not change, and an object that moves near the edge also moves back.

#[cfg(test)]
mod tests;

use rhae_engine::{ActionKind, CELLS, Frame, SIZE};

use crate::strips::{Strip, strips};
use crate::{Bounds, CellSet, Scene};

/// The number of actions that must have shortened a strip.
const MIN_SHORTENINGS: usize = 3;
/// If all those actions were uses of one key, a trail is possible, and more evidence is needed.
const MIN_SHORTENINGS_OF_ONE_KEY: usize = 8;
/// The same if all those actions were clicks, which leave no trail but may fill cells one by one.
const MIN_SHORTENINGS_BY_CLICKS: usize = 4;
/// The number of actions, and of their kinds, that must have shortened a strip if some actions did
/// not: a game may charge nothing for a blocked step.
const MIN_IRREGULAR_SHORTENINGS: usize = 6;
const MIN_IRREGULAR_KINDS: usize = 3;
/// The maximum number of actions between two shortenings.
const MAX_ACTIONS_BETWEEN: usize = 4;
/// The number of actions to observe before a counter is recognised.
const MIN_COUNTER_ACTIONS: usize = 5;
/// The distance from the edge of the frame, in cells, within which a counter lies.
const COUNTER_MARGIN: u8 = 10;
/// The maximum size of a counter, in cells.
const MAX_COUNTER: (u8, u8) = (20, 8);

/// The number of settled frames that are kept to see whether an area returns to an earlier picture.
const RECENT_FRAMES: usize = 16;

/// A part of the frame that shows a number, such as the remaining actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indicator {
    /// All cells of the indicator, used or not.
    pub bounds: Bounds,
    pub kind: IndicatorKind,
}

/// The form of an [`Indicator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndicatorKind {
    /// A strip, or a row of equal objects, that is used up from one end.
    Bar {
        /// The colour of the part that is not used up.
        rest_color: u8,
        /// The length of that part: in cells, or in objects if the bar is a row of equal objects.
        rest: u8,
        /// The length by which the observed actions shortened it.
        used: u8,
        /// The number of those actions.
        actions: u16,
    },
    /// A small area that changes with almost every action.
    Counter,
}

impl Indicator {
    /// Returns the number of further actions after which a bar is used up at its present rate, and
    /// `None` for a counter.
    pub fn actions_left(&self) -> Option<u16> {
        match self.kind {
            IndicatorKind::Bar {
                rest,
                used,
                actions,
                ..
            } => {
                Some((u32::from(rest) * u32::from(actions)).div_ceil(u32::from(used.max(1))) as u16)
            }
            IndicatorKind::Counter => None,
        }
    }
}

/// Recognises the indicators of a game from the settled frames before and after each action.
///
/// Recognised indicators persist across levels, because games keep them in the same place. A counter
/// is withdrawn if it returns to the picture before the last change, because then it shows the
/// board; its cells are not taken for a counter again.
///
/// # Examples
///
/// ```
/// use rhae_engine::{ActionKind, Frame};
/// use rhae_percept::StatusBars;
///
/// let frame = |used: usize| {
///     let mut frame = Frame::filled(0);
///     frame.rect(0, 63, 64 - 2 * used, 1, 9);
///     frame
/// };
/// let mut bars = StatusBars::default();
/// for used in 0..4 {
///     let kind = [ActionKind::Action1, ActionKind::Action4][used % 2];
///     bars.observe(kind, &frame(used), &frame(used + 1));
/// }
/// assert_eq!(bars.indicators().len(), 1);
/// assert_eq!(bars.indicators()[0].actions_left(), Some(28));
/// assert!(bars.mask().contains(5, 63));
/// ```
#[derive(Clone)]
pub struct StatusBars {
    indicators: Vec<Indicator>,
    mask: CellSet,
    /// The actions of this attempt.
    kinds: Vec<ActionKind>,
    /// For each cell, the number of the action that changed it first, counted from 1; 0 if none did.
    first_change: Box<[u16; CELLS]>,
    /// The cells that changed more than once in this attempt.
    repeated: CellSet,
    /// For each cell, how many actions changed it in this attempt.
    changes: Box<[u16; CELLS]>,
    /// The strips of the first frame of this attempt.
    strips: Vec<Strip>,
    scene: Scene,
    /// The last settled frames of this attempt, the oldest first.
    recent: Vec<Frame>,
    /// The cells of areas that were not counters after all.
    refuted: CellSet,
}

impl Default for StatusBars {
    fn default() -> Self {
        Self {
            indicators: Vec::new(),
            mask: CellSet::EMPTY,
            kinds: Vec::new(),
            first_change: Box::new([0; CELLS]),
            repeated: CellSet::EMPTY,
            changes: Box::new([0; CELLS]),
            strips: Vec::new(),
            scene: Scene::default(),
            recent: Vec::with_capacity(RECENT_FRAMES),
            refuted: CellSet::EMPTY,
        }
    }
}

impl StatusBars {
    /// Starts an attempt: a level begins, or it was reset. What is known about indicators persists.
    pub fn start_attempt(&mut self) {
        self.kinds.clear();
        self.first_change.fill(0);
        self.changes.fill(0);
        self.repeated = CellSet::EMPTY;
        self.recent.clear();
    }

    /// Records the effect of one action, except RESET, and returns whether the mask has changed.
    pub fn observe(&mut self, kind: ActionKind, before: &Frame, after: &Frame) -> bool {
        if self.kinds.is_empty() {
            self.scene.read(before);
            self.strips = strips(&self.scene);
        }
        self.kinds.push(kind);
        let now = u16::try_from(self.kinds.len()).unwrap_or(u16::MAX);
        for (x, y) in CellSet::difference(before.cells(), after.cells()).iter() {
            let cell = index(x, y);
            if kind == ActionKind::Action7 && self.first_change[cell] > 0 {
                // Undo gave back what an action had used up.
                self.first_change[cell] = 0;
                continue;
            }
            self.changes[cell] = self.changes[cell].saturating_add(1);
            if self.first_change[cell] == 0 {
                self.first_change[cell] = now;
            } else {
                self.repeated.insert(x, y);
            }
        }
        self.remember(before, after);
        let old_mask = self.mask;
        self.withdraw_counters();
        for position in 0..self.strips.len() {
            let strip = self.strips[position];
            if let Some(kind) = self.bar(strip, after) {
                self.record(Indicator {
                    bounds: strip.bounds,
                    kind,
                });
            }
        }
        self.find_counters();
        self.mask != old_mask
    }

    /// Returns what was recognised so far, in the order of recognition.
    pub fn indicators(&self) -> &[Indicator] {
        &self.indicators
    }

    /// Returns the cells of all indicators. A frame without them is the state of the board.
    pub const fn mask(&self) -> &CellSet {
        &self.mask
    }

    /// Keeps the frame after an action, and at the start of an attempt also the one before it.
    fn remember(&mut self, before: &Frame, after: &Frame) {
        if self.recent.is_empty() {
            self.recent.push(before.clone());
        }
        if self.recent.len() < RECENT_FRAMES {
            self.recent.push(after.clone());
        } else {
            self.recent.rotate_left(1);
            self.recent[RECENT_FRAMES - 1].copy_from(after);
        }
    }

    /// Returns whether an area changed and then changed back, which a counter does not.
    fn returns(&self, bounds: Bounds) -> bool {
        let Some((first, later)) = self.recent.split_first() else {
            return false;
        };
        let (mut current, mut previous) = (first, None);
        for frame in later {
            if is_same(current, frame, bounds) {
                continue;
            }
            if previous.is_some_and(|previous| is_same(previous, frame, bounds)) {
                return true;
            }
            previous = Some(current);
            current = frame;
        }
        false
    }

    /// Removes the counters that returned to an earlier picture.
    fn withdraw_counters(&mut self) {
        let mut position = 0;
        let known = self.indicators.len();
        while let Some(&Indicator { bounds, kind }) = self.indicators.get(position) {
            if kind == IndicatorKind::Counter && self.returns(bounds) {
                self.indicators.remove(position);
                self.refuted.insert_bounds(bounds);
            } else {
                position += 1;
            }
        }
        if self.indicators.len() < known {
            self.mask = CellSet::EMPTY;
            for indicator in &self.indicators {
                self.mask.insert_bounds(indicator.bounds);
            }
        }
    }

    /// Adds an indicator, or updates the one at the same place. Of two indicators of which one
    /// contains the other, the larger one is kept: a bar with both of its parts.
    fn record(&mut self, indicator: Indicator) {
        let bounds = indicator.bounds;
        let is_part = |known: &Indicator| {
            known.bounds != bounds && known.bounds.joined(bounds) == known.bounds
        };
        if self.indicators.iter().any(is_part) {
            return;
        }
        self.indicators
            .retain(|known| known.bounds == bounds || known.bounds.joined(bounds) != bounds);
        let same = |known: &&mut Indicator| known.bounds == bounds;
        match self.indicators.iter_mut().find(same) {
            Some(known) => *known = indicator,
            None => self.indicators.push(indicator),
        }
        self.mask.insert_bounds(bounds);
    }

    /// Returns the bar that a strip is, if it changed like one.
    fn bar(&self, strip: Strip, frame: &Frame) -> Option<IndicatorKind> {
        let count = usize::from(strip.segments());
        let mut changed_by = [0_u16; SIZE];
        for (segment, by) in (0..).zip(&mut changed_by[..count]) {
            *by = self.segment_changed_by(strip, segment)?;
        }
        let changed_by = &mut changed_by[..count];
        let used = changed_by.iter().filter(|&&by| by > 0).count();
        if used == 0 || used == count {
            return None;
        }
        // The used segments are contiguous, and their actions are in order towards the rest.
        let first = changed_by.iter().position(|&by| by > 0)?;
        let run = &mut changed_by[first..first + used];
        if run.contains(&0) {
            return None;
        }
        let forward = run.is_sorted();
        if !forward {
            run.reverse();
            if !run.is_sorted() {
                return None;
            }
        }
        let mut distinct = 1;
        for at in 1..run.len() {
            if run[at] != run[distinct - 1] {
                run[distinct] = run[at];
                distinct += 1;
            }
        }
        self.is_regular(&run[..distinct]).then(|| {
            let (rest_segment, rest) = if forward {
                ((first + used).min(count - 1), count - first - used)
            } else {
                (first.saturating_sub(1), first)
            };
            let (x, y) = strip.cell(rest_segment as u8 * strip.pitch, 0);
            IndicatorKind::Bar {
                rest_color: frame.get(x.into(), y.into()),
                rest: rest as u8,
                used: used as u8,
                actions: self.kinds.len() as u16,
            }
        })
    }

    /// Returns the number of the action that changed a segment of a strip, 0 if none did. Returns
    /// `None` if the segment did not change like one of a bar: once and completely, or, if it is an
    /// object, in some of its cells at once, while the gap behind it stays.
    fn segment_changed_by(&self, strip: Strip, segment: u8) -> Option<u16> {
        let (length, thickness) = strip.size();
        let start = segment * strip.pitch;
        let cells = |from: u8, to: u8| {
            (from..to)
                .flat_map(move |along| (0..thickness).map(move |across| strip.cell(along, across)))
        };
        let is_stable = |(x, y): (u8, u8)| self.first_change[index(x, y)] == 0;
        let end = start + strip.segment;
        let next = (start + strip.pitch).min(length);
        if !cells(end, next).all(is_stable) {
            return None;
        }
        let (mut first, mut last) = (u16::MAX, 0);
        for (x, y) in cells(start, end) {
            let by = self.first_change[index(x, y)];
            if self.repeated.contains(x, y) {
                return None;
            }
            if by > 0 || !strip.has_gaps() {
                first = first.min(by);
                last = last.max(by);
            }
        }
        (first == last || last == 0).then_some(last)
    }

    /// Returns whether actions that shortened a strip came regularly, whatever their kind.
    fn is_regular(&self, actions: &[u16]) -> bool {
        let Some((&first, &last)) = actions.first().zip(actions.last()) else {
            return false;
        };
        let kind = |action: u16| self.kinds[usize::from(action) - 1];
        let of_one_kind = actions.iter().all(|&action| kind(action) == kind(first));
        let are_clicks = of_one_kind && kind(first) == ActionKind::Action6;
        let enough = match (of_one_kind, are_clicks) {
            (true, true) => MIN_SHORTENINGS_BY_CLICKS,
            (true, false) => MIN_SHORTENINGS_OF_ONE_KEY,
            (false, _) => MIN_SHORTENINGS,
        };
        let is_recent = self.kinds.len() - usize::from(last) < MAX_ACTIONS_BETWEEN;
        let kinds_used = (0..actions.len())
            .filter(|&at| {
                !actions[..at]
                    .iter()
                    .any(|&one| kind(one) == kind(actions[at]))
            })
            .count();
        let is_varied = kinds_used >= MIN_IRREGULAR_KINDS || are_clicks;
        if actions.len() >= MIN_IRREGULAR_SHORTENINGS && is_varied {
            return true;
        }
        let gaps = actions
            .windows(2)
            .map(|pair| usize::from(pair[1] - pair[0]));
        let (least, most) = gaps.fold((usize::MAX, 0), |(least, most), gap| {
            (least.min(gap), most.max(gap))
        });
        actions.len() >= enough && most <= MAX_ACTIONS_BETWEEN && most <= least + 1 && is_recent
    }

    /// Recognises small areas near the edge that change with almost every action.
    fn find_counters(&mut self) {
        let observed = self.kinds.len();
        if observed < MIN_COUNTER_ACTIONS || self.kinds.iter().all(|&kind| kind == self.kinds[0]) {
            return;
        }
        let mut busy = CellSet::EMPTY;
        for (x, y) in self.repeated.iter() {
            let count = usize::from(self.changes[index(x, y)]);
            if count * 5 >= observed * 2 && !self.mask.contains(x, y) {
                busy.insert(x, y);
            }
        }
        while let Some((x, y)) = { busy.iter().next() } {
            let mut seed = CellSet::EMPTY;
            seed.insert(x, y);
            // The strokes of a digit may be one cell apart.
            let near = busy.dilated();
            let mut area = near.reachable_from(&seed);
            let mut others = busy;
            others.subtract(&area);
            let mut outside = busy;
            outside.subtract(&others);
            area = outside;
            busy = others;
            let bounds = area.bounds().expect("the area contains its seed");
            let near_edge = bounds.bottom < COUNTER_MARGIN
                || bounds.top >= SIZE as u8 - COUNTER_MARGIN
                || bounds.right < COUNTER_MARGIN
                || bounds.left >= SIZE as u8 - COUNTER_MARGIN;
            let is_small = bounds.width() <= MAX_COUNTER.0 && bounds.height() <= MAX_COUNTER.1;
            let mut refuted = CellSet::EMPTY;
            refuted.insert_bounds(bounds);
            let is_refuted = refuted.overlap(&self.refuted) > 0 || self.returns(bounds);
            if near_edge && is_small && area.len() > 1 && !is_refuted {
                self.record(Indicator {
                    bounds,
                    kind: IndicatorKind::Counter,
                });
            }
        }
    }
}

/// Returns whether two frames show the same in an area.
fn is_same(one: &Frame, other: &Frame, bounds: Bounds) -> bool {
    (bounds.top..=bounds.bottom).all(|y| {
        let range = index(bounds.left, y)..=index(bounds.right, y);
        one.cells()[range.clone()] == other.cells()[range]
    })
}

const fn index(x: u8, y: u8) -> usize {
    y as usize * SIZE + x as usize
}
