//! Lists in pages: they grow without copying what they hold, so that growing needs neither time nor memory for a second copy.
//!
//! [`Pages`] is a plain list. [`Rows`] has the edges of a graph, row by row; a row never crosses from one page to the next, so
//! that it can be read as one slice. Of a page that is not full, the system hands out only what is written to; and a process
//! that searches again gets pages of always the same size back without asking the system, which would take a tenth of the time of
//! a small search. **Invariant:** after the first page, memory is asked for only by `add_room`, and `room_bytes` says before how
//! much that will be.

/// Entries of a page are counted by this many bits.
const BITS: u32 = 15;
const PAGE: usize = 1 << BITS;
const WITHIN: usize = PAGE - 1;
/// Pages of edges that can be told apart: where a row begins is a number of 32 bits.
const MOST_PAGES: usize = 1 << (u32::BITS - BITS);

/// A list.
#[derive(Clone, Debug)]
pub(crate) struct Pages<T> {
    pages: Vec<Vec<T>>,
}

impl<T: Copy> Pages<T> {
    pub(crate) fn new() -> Self {
        Self {
            pages: vec![new_page()],
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        (self.pages.len() - 1) * PAGE + self.pages.last().map_or(0, Vec::len)
    }

    /// The memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.pages
            .iter()
            .map(|page| page.capacity() * size_of::<T>())
            .sum()
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<T> {
        self.pages.get(at >> BITS)?.get(at & WITHIN).copied()
    }

    /// The entry at a place that is known to be there.
    #[inline]
    pub(crate) fn at(&self, at: usize) -> T {
        self.pages[at >> BITS][at & WITHIN]
    }

    /// Gets an entry, which will be read soon, from memory.
    #[inline]
    pub(crate) fn expect(&self, at: usize) {
        crate::index::prefetch(&self.pages[at >> BITS][at & WITHIN]);
    }

    /// How many entries there can be before it is full.
    pub(crate) const fn capacity(&self) -> usize {
        self.pages.len() * PAGE
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        !self.has_room(1)
    }

    /// Whether there is room for some more entries on the last page.
    #[inline]
    fn has_room(&self, more: usize) -> bool {
        has_room(&self.pages, more)
    }

    /// What [`add_room`](Self::add_room) will ask for.
    pub(crate) const fn room_bytes() -> usize {
        PAGE * size_of::<T>()
    }

    pub(crate) fn add_room(&mut self) {
        self.pages.push(new_page());
    }

    /// Appends an entry, for which there must be room.
    #[inline]
    pub(crate) fn push(&mut self, entry: T) {
        self.pages
            .last_mut()
            .expect("there is always a page")
            .push(entry);
    }

    /// Appends entries, for which there must be room on the last page.
    #[inline]
    fn extend(&mut self, entries: impl Iterator<Item = T>) {
        self.pages
            .last_mut()
            .expect("there is always a page")
            .extend(entries);
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.pages.truncate((len >> BITS) + 1);
        if let Some(page) = self.pages.get_mut(len >> BITS) {
            page.truncate(len & WITHIN);
        }
    }

    #[inline]
    fn last_mut(&mut self) -> Option<&mut T> {
        let page = self.pages.len() - 1;
        let page = if self.pages[page].is_empty() {
            page.checked_sub(1)?
        } else {
            page
        };
        self.pages[page].last_mut()
    }

    /// Appends some entries from a place on to another list.
    pub(crate) fn copy(&self, from: usize, count: usize, into: &mut Vec<T>) {
        let (mut at, end) = (from, from + count);
        while at < end {
            let page = &self.pages[at >> BITS][at & WITHIN..];
            let some = page.len().min(end - at);
            into.extend_from_slice(&page[..some]);
            at += some;
        }
    }

    /// The entries from a place on.
    pub(crate) fn iter_from(&self, from: usize) -> impl Iterator<Item = T> + '_ {
        let (first, skipped) = (from >> BITS, from & WITHIN);
        let pages = self
            .pages
            .get(first..)
            .unwrap_or_default()
            .iter()
            .enumerate();
        pages.flat_map(move |(page, list)| {
            list.get(if page == 0 { skipped } else { 0 }..)
                .unwrap_or_default()
                .iter()
                .copied()
        })
    }
}

/// The edges of states, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Where each row begins, and where the next will: page and place in one number.
    first: Pages<u32>,
    targets: Vec<Vec<u32>>,
    /// A number for each edge, if there is any.
    weights: Option<Vec<Vec<u16>>>,
    len: usize,
}

impl Rows {
    pub(crate) fn new(weighted: bool) -> Self {
        let mut first = Pages::new();
        first.push(0);
        let weights = weighted.then(|| vec![new_page()]);
        Self {
            first,
            targets: vec![new_page()],
            weights,
            len: 0,
        }
    }

    /// How many rows there are.
    #[inline]
    pub(crate) fn rows(&self) -> usize {
        self.first.len() - 1
    }

    /// The edges of all rows.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The memory they hold.
    pub(crate) fn bytes(&self) -> usize {
        let targets: usize = self.targets.iter().map(Vec::capacity).sum();
        let weights: usize = self.weights.iter().flatten().map(Vec::capacity).sum();
        self.first.bytes() + targets * size_of::<u32>() + weights * size_of::<u16>()
    }

    /// Whether there is room for some rows, of this many edges together.
    #[inline]
    pub(crate) fn has_room(&self, rows: usize, edges: usize) -> bool {
        self.first.has_room(rows) && has_room(&self.targets, edges)
    }

    /// Whether a row of this many edges can be told apart from all others by a number of 32 bits.
    pub(crate) fn can_number(&self, edges: usize) -> bool {
        self.targets.len() < MOST_PAGES && edges <= PAGE
    }

    /// What [`add_room`](Self::add_room) will ask for.
    pub(crate) fn room_bytes(&self, edges: usize) -> usize {
        let one = size_of::<u32>()
            + if self.is_weighted() {
                size_of::<u16>()
            } else {
                0
            };
        let first = if self.first.is_full() {
            Pages::<u32>::room_bytes()
        } else {
            0
        };
        first
            + if has_room(&self.targets, edges) {
                0
            } else {
                PAGE * one
            }
    }

    pub(crate) fn add_room(&mut self, edges: usize) {
        if self.first.is_full() {
            self.first.add_room();
        }
        if has_room(&self.targets, edges) {
            return;
        }
        // The row begins on the new page.
        *self
            .first
            .last_mut()
            .expect("where the next row begins is always there") =
            (self.targets.len() << BITS) as u32;
        self.targets.push(new_page());
        if let Some(weights) = &mut self.weights {
            weights.push(new_page());
        }
    }

    /// Adds rows with these numbers of edges, for all of which there must be room: where the edges lead, and their weights, as
    /// many, if there are any.
    #[inline]
    pub(crate) fn add(&mut self, counts: &[u32], targets: &[u32], weights: &[u16]) {
        let number = self.targets.len() - 1;
        let page = &mut self.targets[number];
        let mut end = ((number << BITS) + page.len()) as u32;
        page.extend_from_slice(targets);
        self.first.extend(counts.iter().map(|&count| {
            end += count;
            end
        }));
        if let Some(pages) = &mut self.weights {
            pages[number].extend_from_slice(weights);
        }
        self.len += targets.len();
    }

    /// The edges of a row; none if it is not there.
    #[inline]
    pub(crate) fn targets(&self, row: usize) -> &[u32] {
        self.place(row)
            .map_or(&[], |(page, from, to)| &self.targets[page][from..to])
    }

    /// The numbers of a row's edges.
    #[inline]
    pub(crate) fn weights(&self, row: usize) -> Option<&[u16]> {
        let weights = self.weights.as_ref()?;
        Some(
            self.place(row)
                .map_or(&[], |(page, from, to)| &weights[page][from..to]),
        )
    }

    #[inline]
    fn place(&self, row: usize) -> Option<(usize, usize, usize)> {
        let (from, to) = (
            self.first.get(row)? as usize,
            self.first.get(row + 1)? as usize,
        );
        let page = from >> BITS;
        if from == to {
            // It may begin where a page would that was never needed.
            None
        } else if page == to >> BITS {
            Some((page, from & WITHIN, to & WITHIN))
        } else {
            // The last row of its page ends with it.
            Some((page, from & WITHIN, self.targets[page].len()))
        }
    }
}

fn new_page<T>() -> Vec<T> {
    Vec::with_capacity(PAGE)
}

/// Whether there is room for some more entries on the last page.
#[inline]
fn has_room<T>(pages: &[Vec<T>], more: usize) -> bool {
    pages.last().is_some_and(|page| page.len() + more <= PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_its_entries_while_it_grows() {
        let mut list = Pages::new();
        let count = 2 * PAGE + PAGE / 2;
        for entry in 0..count {
            if list.is_full() {
                let before = list.bytes();
                list.add_room();
                assert_eq!(list.bytes(), before + Pages::<usize>::room_bytes());
            }
            list.push(entry);
        }
        assert_eq!(list.len(), count);
        assert!((0..count).all(|entry| list.at(entry) == entry));
        assert_eq!(list.get(count), None);
        for from in [0, 5, PAGE - 1, PAGE, 2 * PAGE + 1, count] {
            assert!(list.iter_from(from).eq(from..count), "from {from}");
            let mut copied = vec![7];
            list.copy(from, count - from, &mut copied);
            assert!(copied.into_iter().skip(1).eq(from..count), "from {from}");
        }
        for len in [2 * PAGE + 3, 2 * PAGE, PAGE + 1, 7] {
            list.truncate(len);
            assert_eq!(
                (list.len(), list.get(len), list.get(len - 1)),
                (len, None, Some(len - 1))
            );
        }
    }

    /// Rows of all lengths that there are, the longest with a click on every cell, many without an edge.
    fn lengths() -> impl Iterator<Item = usize> {
        let cycle = [0, 5, 1, 0, 0, 4103, 17, 64, 4096, 3]
            .into_iter()
            .cycle()
            .take(400);
        cycle.chain([PAGE, 0, 0, 1, PAGE - 1, 0, 1, 0, 2])
    }

    #[test]
    fn rows_come_back_as_they_went_in() {
        for weighted in [false, true] {
            let mut rows = Rows::new(weighted);
            let row = |number: usize, length: usize| {
                (0..length)
                    .map(|edge| (number * 7 + edge) as u32)
                    .collect::<Vec<u32>>()
            };
            let weights = |length: usize| (0..length).map(|edge| edge as u16).collect::<Vec<u16>>();
            for (number, length) in lengths().enumerate() {
                if !rows.has_room(1, length) {
                    let (before, asked) = (rows.bytes(), rows.room_bytes(length));
                    rows.add_room(length);
                    assert!(rows.bytes() <= before + asked);
                }
                assert!(rows.has_room(1, length));
                rows.add(
                    &[length as u32],
                    &row(number, length),
                    &weights(if weighted { length } else { 0 }),
                );
            }
            assert_eq!(rows.rows(), lengths().count());
            assert_eq!(rows.len(), lengths().sum::<usize>());
            for (number, length) in lengths().enumerate() {
                assert_eq!(rows.targets(number), row(number, length));
                assert_eq!(
                    rows.weights(number).map(<[u16]>::to_vec),
                    weighted.then(|| weights(length))
                );
            }
            assert!(rows.targets(rows.rows()).is_empty());
        }
    }
}
