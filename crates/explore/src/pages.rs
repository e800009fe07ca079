//! Paged lists. They grow by adding a page, without copying their entries, so they never need
//! memory for a second copy.
//!
//! [`Pages`] is a plain list. [`EdgeRows`] holds the edges of a graph row by row. A row never
//! crosses a page boundary, so it can be read as one slice. The operating system commits only the
//! written part of a page. All pages of a list have the same size, so that the allocator can reuse
//! them for later searches. Requesting them from the operating system again would take about a
//! tenth of the time of a small search.
//!
//! **Invariant:** after the first page, only `grow` allocates memory, and `growth_bytes` returns
//! beforehand how much it will allocate.

/// The number of bits of an offset within a page.
const PAGE_BITS: u32 = 15;
const PAGE_LEN: usize = 1 << PAGE_BITS;
const OFFSET_MASK: usize = PAGE_LEN - 1;
/// The maximum number of pages of edges. It follows from the start of a row, page number and
/// offset, being stored in 32 bits.
const MAX_EDGE_PAGES: usize = 1 << (u32::BITS - PAGE_BITS);

/// A growable list in pages of [`PAGE_LEN`] entries.
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
        (self.pages.len() - 1) * PAGE_LEN + self.pages.last().map_or(0, Vec::len)
    }

    /// Returns the allocated memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.pages
            .iter()
            .map(|page| page.capacity() * size_of::<T>())
            .sum()
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<T> {
        self.pages
            .get(at >> PAGE_BITS)?
            .get(at & OFFSET_MASK)
            .copied()
    }

    /// Returns the entry at an index.
    ///
    /// # Panics
    ///
    /// Panics if the index is out of bounds.
    #[inline]
    pub(crate) fn at(&self, at: usize) -> T {
        self.pages[at >> PAGE_BITS][at & OFFSET_MASK]
    }

    /// Prefetches an entry into the cache.
    #[inline]
    pub(crate) fn prefetch(&self, at: usize) {
        crate::index::prefetch(&self.pages[at >> PAGE_BITS][at & OFFSET_MASK]);
    }

    /// Returns the number of entries that fit without growing.
    pub(crate) const fn capacity(&self) -> usize {
        self.pages.len() * PAGE_LEN
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        !self.has_room(1)
    }

    /// Returns whether `more` further entries fit on the last page.
    #[inline]
    fn has_room(&self, more: usize) -> bool {
        has_room(&self.pages, more)
    }

    /// Returns the number of bytes that [`grow`](Self::grow) allocates.
    pub(crate) const fn growth_bytes() -> usize {
        PAGE_LEN * size_of::<T>()
    }

    pub(crate) fn grow(&mut self) {
        self.pages.push(new_page());
    }

    /// Appends an entry. The caller must make sure that the last page is not full.
    #[inline]
    pub(crate) fn push(&mut self, entry: T) {
        self.pages
            .last_mut()
            .expect("a list has at least one page")
            .push(entry);
    }

    /// Appends entries. The caller must make sure that they fit on the last page.
    #[inline]
    fn extend(&mut self, entries: impl Iterator<Item = T>) {
        self.pages
            .last_mut()
            .expect("a list has at least one page")
            .extend(entries);
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.pages.truncate((len >> PAGE_BITS) + 1);
        if let Some(page) = self.pages.get_mut(len >> PAGE_BITS) {
            page.truncate(len & OFFSET_MASK);
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

    /// Appends `count` entries from index `from` on to `into`.
    pub(crate) fn copy_to(&self, from: usize, count: usize, into: &mut Vec<T>) {
        let (mut at, end) = (from, from + count);
        while at < end {
            let page = &self.pages[at >> PAGE_BITS][at & OFFSET_MASK..];
            let len = page.len().min(end - at);
            into.extend_from_slice(&page[..len]);
            at += len;
        }
    }

    /// Iterates over the entries from an index on.
    pub(crate) fn iter_from(&self, from: usize) -> impl Iterator<Item = T> + '_ {
        let (first, skipped) = (from >> PAGE_BITS, from & OFFSET_MASK);
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

/// The edges of all expanded nodes, one row per node.
#[derive(Clone, Debug)]
pub(crate) struct EdgeRows {
    /// The start of each row, followed by the start of the next row to be added. Page number and
    /// offset are combined in one number.
    first: Pages<u32>,
    targets: Vec<Vec<u32>>,
    /// The weight of each edge, in graphs with all clicks.
    weights: Option<Vec<Vec<u16>>>,
    len: usize,
}

impl EdgeRows {
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

    /// Returns the number of rows.
    #[inline]
    pub(crate) fn rows(&self) -> usize {
        self.first.len() - 1
    }

    /// Returns the number of edges in all rows.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Returns the allocated memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let targets: usize = self.targets.iter().map(Vec::capacity).sum();
        let weights: usize = self.weights.iter().flatten().map(Vec::capacity).sum();
        self.first.bytes() + targets * size_of::<u32>() + weights * size_of::<u16>()
    }

    /// Returns whether `rows` further rows with a total of `edges` edges fit without growing.
    #[inline]
    pub(crate) fn has_room(&self, rows: usize, edges: usize) -> bool {
        self.first.has_room(rows) && has_room(&self.targets, edges)
    }

    /// Returns whether another page can be addressed with 32 bits and a row with this many edges
    /// fits on it.
    pub(crate) fn can_address(&self, edges: usize) -> bool {
        self.targets.len() < MAX_EDGE_PAGES && edges <= PAGE_LEN
    }

    /// Returns the number of bytes that [`grow`](Self::grow) allocates.
    pub(crate) fn growth_bytes(&self, edges: usize) -> usize {
        let one = size_of::<u32>()
            + if self.is_weighted() {
                size_of::<u16>()
            } else {
                0
            };
        let first = if self.first.is_full() {
            Pages::<u32>::growth_bytes()
        } else {
            0
        };
        first
            + if has_room(&self.targets, edges) {
                0
            } else {
                PAGE_LEN * one
            }
    }

    pub(crate) fn grow(&mut self, edges: usize) {
        if self.first.is_full() {
            self.first.grow();
        }
        if has_room(&self.targets, edges) {
            return;
        }
        // The next row starts on the new page.
        *self
            .first
            .last_mut()
            .expect("the start of the next row is always present") =
            (self.targets.len() << PAGE_BITS) as u32;
        self.targets.push(new_page());
        if let Some(weights) = &mut self.weights {
            weights.push(new_page());
        }
    }

    /// Adds rows with the given numbers of edges, which must fit. `targets` and `weights` hold the
    /// edges of all rows; `weights` is empty for an unweighted graph.
    #[inline]
    pub(crate) fn add(&mut self, counts: &[u32], targets: &[u32], weights: &[u16]) {
        let number = self.targets.len() - 1;
        let page = &mut self.targets[number];
        let mut end = ((number << PAGE_BITS) + page.len()) as u32;
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

    /// Returns the targets of a row, or an empty slice if the row does not exist.
    #[inline]
    pub(crate) fn targets(&self, row: usize) -> &[u32] {
        self.locate(row)
            .map_or(&[], |(page, from, to)| &self.targets[page][from..to])
    }

    /// Returns the weights of a row.
    #[inline]
    pub(crate) fn weights(&self, row: usize) -> Option<&[u16]> {
        let weights = self.weights.as_ref()?;
        Some(
            self.locate(row)
                .map_or(&[], |(page, from, to)| &weights[page][from..to]),
        )
    }

    #[inline]
    fn locate(&self, row: usize) -> Option<(usize, usize, usize)> {
        let (from, to) = (
            self.first.get(row)? as usize,
            self.first.get(row + 1)? as usize,
        );
        let page = from >> PAGE_BITS;
        if from == to {
            // An empty row may start at the end of the last page, which is the address of a page
            // that does not exist.
            None
        } else if page == to >> PAGE_BITS {
            Some((page, from & OFFSET_MASK, to & OFFSET_MASK))
        } else {
            // The last row of a page ends with the page.
            Some((page, from & OFFSET_MASK, self.targets[page].len()))
        }
    }
}

fn new_page<T>() -> Vec<T> {
    Vec::with_capacity(PAGE_LEN)
}

/// Returns whether `more` further entries fit on the last page.
#[inline]
fn has_room<T>(pages: &[Vec<T>], more: usize) -> bool {
    pages
        .last()
        .is_some_and(|page| page.len() + more <= PAGE_LEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_keeps_its_entries_while_growing() {
        let mut list = Pages::new();
        let count = 2 * PAGE_LEN + PAGE_LEN / 2;
        for entry in 0..count {
            if list.is_full() {
                let before = list.bytes();
                list.grow();
                assert_eq!(list.bytes(), before + Pages::<usize>::growth_bytes());
            }
            list.push(entry);
        }
        assert_eq!(list.len(), count);
        assert!((0..count).all(|entry| list.at(entry) == entry));
        assert_eq!(list.get(count), None);
        for from in [0, 5, PAGE_LEN - 1, PAGE_LEN, 2 * PAGE_LEN + 1, count] {
            assert!(list.iter_from(from).eq(from..count), "from {from}");
            let mut copied = vec![7];
            list.copy_to(from, count - from, &mut copied);
            assert!(copied.into_iter().skip(1).eq(from..count), "from {from}");
        }
        for len in [2 * PAGE_LEN + 3, 2 * PAGE_LEN, PAGE_LEN + 1, 7] {
            list.truncate(len);
            assert_eq!(
                (list.len(), list.get(len), list.get(len - 1)),
                (len, None, Some(len - 1))
            );
        }
    }

    /// Rows of all relevant lengths: empty ones, short ones, and one with a click on every cell.
    fn lengths() -> impl Iterator<Item = usize> {
        let cycle = [0, 5, 1, 0, 0, 4103, 17, 64, 4096, 3]
            .into_iter()
            .cycle()
            .take(400);
        cycle.chain([PAGE_LEN, 0, 0, 1, PAGE_LEN - 1, 0, 1, 0, 2])
    }

    #[test]
    fn rows_are_read_back_unchanged() {
        for weighted in [false, true] {
            let mut rows = EdgeRows::new(weighted);
            let row = |number: usize, length: usize| {
                (0..length)
                    .map(|edge| (number * 7 + edge) as u32)
                    .collect::<Vec<u32>>()
            };
            let weights = |length: usize| (0..length).map(|edge| edge as u16).collect::<Vec<u16>>();
            for (number, length) in lengths().enumerate() {
                if !rows.has_room(1, length) {
                    let (before, growth) = (rows.bytes(), rows.growth_bytes(length));
                    rows.grow(length);
                    assert!(rows.bytes() <= before + growth);
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
