//! The memories that all agents of a play share: what was found out, with a retrieval by words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The memories that are kept. The oldest is forgotten first.
const MAX_MEMORIES: usize = 200;
/// The characters of a summary and of the details.
const MAX_CHARS: (usize, usize) = (300, 6_000);
/// The memories that a retrieval returns.
const MAX_FOUND: usize = 5;
/// The parameters of BM25: how soon repeated words stop to count, and how much long texts lose.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;

/// One memory.
#[derive(Clone)]
struct Memory {
    number: usize,
    /// The agent that stored it.
    author: String,
    step: usize,
    summary: String,
    details: String,
}

impl Memory {
    fn line(&self) -> String {
        let Self {
            number,
            author,
            step,
            summary,
            ..
        } = self;
        format!("{number} ({author}, step {step}): {summary}")
    }
}

/// The memories of a play.
#[derive(Clone)]
pub(super) struct Memories {
    memories: Vec<Memory>,
    /// The number of the next memory.
    next: usize,
    /// The difference between the numbers of new memories: copies number theirs differently.
    stride: usize,
}

impl Default for Memories {
    fn default() -> Self {
        Self {
            memories: Vec::new(),
            next: 1,
            stride: 1,
        }
    }
}

impl Memories {
    /// Creates copies for agents that work at the same time. Each agent sees its own changes only,
    /// and no two copies give a new memory the same number.
    pub(super) fn fork(&self, count: usize) -> Vec<Self> {
        let copy = |index| Self {
            memories: self.memories.clone(),
            next: self.next + index,
            stride: count,
        };
        (0..count).map(copy).collect()
    }

    /// Takes over the changes of copies that [`fork`](Self::fork) created. The result depends only on
    /// their order.
    pub(super) fn join(&mut self, copies: Vec<Self>) {
        let first_new = self.next;
        for copy in copies {
            let has = |number| copy.memories.iter().any(|memory| memory.number == number);
            self.memories
                .retain(|memory| memory.number >= first_new || has(memory.number));
            self.next = self.next.max(copy.next);
            let is_new = |memory: &Memory| memory.number >= first_new;
            self.memories
                .extend(copy.memories.into_iter().filter(is_new));
        }
        let excess = self.memories.len().saturating_sub(MAX_MEMORIES);
        self.memories.drain(..excess);
    }

    /// Stores a memory and returns its number.
    pub(super) fn add(&mut self, author: &str, step: usize, summary: &str, details: &str) -> usize {
        let number = self.next;
        self.next += self.stride;
        self.memories.push(Memory {
            number,
            author: author.to_owned(),
            step,
            summary: first_chars(summary, MAX_CHARS.0),
            details: first_chars(details, MAX_CHARS.1),
        });
        if self.memories.len() > MAX_MEMORIES {
            self.memories.remove(0);
        }
        number
    }

    /// Removes a memory. Returns whether it existed.
    pub(super) fn forget(&mut self, number: u64) -> bool {
        let before = self.memories.len();
        self.memories
            .retain(|memory| memory.number as u64 != number);
        self.memories.len() < before
    }

    /// Returns the summaries, one per line, oldest first.
    pub(super) fn summaries(&self) -> String {
        if self.memories.is_empty() {
            return "(none)".to_owned();
        }
        let lines: Vec<String> = self.memories.iter().map(Memory::line).collect();
        lines.join("\n")
    }

    /// Returns the memories that fit a query best, with their details.
    pub(super) fn recall(&self, query: &str) -> String {
        let mut found = self.ranked(query);
        found.truncate(MAX_FOUND);
        let mut text = String::new();
        for memory in found {
            let _ = write!(text, "{}\n{}\n\n", memory.line(), memory.details);
        }
        if text.is_empty() {
            text = format!(
                "no memory has one of these words; the memories are\n{}",
                self.summaries()
            );
        }
        text.trim_end().to_owned()
    }

    /// Returns the memories that share a word with a query, best first, by BM25.
    fn ranked(&self, query: &str) -> Vec<&Memory> {
        let texts: Vec<Vec<String>> = self
            .memories
            .iter()
            .map(|memory| words(&format!("{} {}", memory.summary, memory.details)))
            .collect();
        let total: usize = texts.iter().map(Vec::len).sum();
        let mean = total as f64 / texts.len().max(1) as f64;
        let mut frequency: BTreeMap<&str, usize> = BTreeMap::new();
        for text in &texts {
            let distinct: BTreeSet<&str> = text.iter().map(String::as_str).collect();
            for word in distinct {
                *frequency.entry(word).or_default() += 1;
            }
        }
        let query: BTreeSet<String> = words(query).into_iter().collect();
        let score = |text: &[String]| -> f64 {
            let part = |word: &String| {
                let count = text.iter().filter(|other| *other == word).count() as f64;
                let texts_with = frequency.get(word.as_str()).copied().unwrap_or(0) as f64;
                let rarity = (texts.len() as f64 - texts_with + 0.5) / (texts_with + 0.5);
                let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * text.len() as f64 / mean;
                (1.0 + rarity).ln() * count * (SATURATION + 1.0) / (count + SATURATION * length)
            };
            query.iter().map(part).sum()
        };
        let mut scored: Vec<(f64, &Memory)> = texts
            .iter()
            .zip(&self.memories)
            .map(|(text, memory)| (score(text), memory))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        // Of equally good memories, the newest is first.
        scored.sort_by(|(one, first), (two, second)| {
            two.total_cmp(one)
                .then_with(|| second.number.cmp(&first.number))
        });
        scored.into_iter().map(|(_, memory)| memory).collect()
    }
}

/// Returns the words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn first_chars(text: &str, count: usize) -> String {
    text.trim().chars().take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retrieval_ranks_rare_words_first() {
        let mut memories = Memories::default();
        assert_eq!(memories.summaries(), "(none)");
        memories.add("explorer-1", 3, "ACTION1 moves the block up", "by 4 cells");
        memories.add("explorer-1", 5, "ACTION2 moves the block down", "");
        memories.add(
            "tester-1",
            9,
            "the bar shrinks",
            "with every action; the block stays",
        );
        let numbers = |memories: &Memories, query: &str| -> Vec<usize> {
            let found = memories.ranked(query);
            found.iter().map(|memory| memory.number).collect()
        };
        assert_eq!(numbers(&memories, "What does the BAR do?"), [3, 2, 1]);
        assert_eq!(numbers(&memories, "cells"), [1]);
        assert!(
            memories
                .recall("bar")
                .starts_with("3 (tester-1, step 9): the bar shrinks\nwith")
        );
        assert!(
            memories
                .recall("heaven")
                .contains("no memory has one of these words")
        );
        assert!(memories.forget(2) && !memories.forget(2));
        assert_eq!(memories.summaries().lines().count(), 2);
        assert_eq!(memories.add("solver-1", 10, "next", ""), 4);
    }

    #[test]
    fn copies_are_joined_without_conflicts() {
        let mut memories = Memories::default();
        memories.add("a", 0, "first", "");
        memories.add("a", 0, "second", "");
        let mut copies = memories.fork(2);
        assert_eq!(copies[1].add("c", 1, "of c", ""), 4);
        assert_eq!(copies[0].add("b", 1, "of b", ""), 3);
        assert_eq!(copies[0].add("b", 1, "again of b", ""), 5);
        assert!(copies[0].forget(3) && copies[1].forget(1));
        // Neither sees what the other one did.
        assert_eq!(copies[0].summaries().lines().count(), 3);
        assert_eq!(copies[1].summaries().lines().count(), 2);
        memories.join(copies);
        assert_eq!(
            memories.summaries(),
            "2 (a, step 0): second\n5 (b, step 1): again of b\n4 (c, step 1): of c"
        );
        let next = memories.add("a", 2, "next", "");
        assert!(next > 5, "{next}");
        // Full copies do not exceed the limit together.
        for _ in 0..MAX_MEMORIES {
            memories.add("a", 2, "more", "");
        }
        let mut copies = memories.fork(3);
        for copy in &mut copies {
            copy.add("d", 3, "one more", "");
        }
        memories.join(copies);
        assert_eq!(memories.memories.len(), MAX_MEMORIES);
        assert_eq!(memories.summaries().matches("one more").count(), 3);
    }

    #[test]
    fn memories_are_limited() {
        let mut memories = Memories::default();
        for step in 0..300 {
            memories.add("a", step, &"long ".repeat(500), &"d".repeat(10_000));
        }
        assert_eq!(memories.memories.len(), MAX_MEMORIES);
        assert!(memories.summaries().len() < MAX_MEMORIES * (MAX_CHARS.0 + 40));
        assert_eq!(memories.memories[0].details.len(), MAX_CHARS.1);
    }
}
