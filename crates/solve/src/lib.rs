//! A solver for static ARC-AGI tasks that searches for programs. It uses no language model.
//!
//! [`solve_test`] takes a [`Task`](rhae_tasks::Task) and returns a [`Solution`]: ranked answers to
//! one test, each a [`Candidate`] with the program that produced it. Four methods propose
//! candidates:
//!
//! | [`Method`] | idea |
//! | --- | --- |
//! | [`Rule`](Method::Rule) | a rule about whole grids that holds for all training pairs |
//! | [`Layers`](Method::Layers) | short programs produce images, which are painted over each other |
//! | [`Cells`](Method::Cells) | a decision tree predicts the colour of each cell |
//! | [`Objects`](Method::Objects) | a decision tree recolours, deletes or selects objects |
//!
//! The [`Budget`] limits the work and the memory of a search.
//!
//! # Invariants
//!
//! - Work is counted in processed grid cells, not in time. The same task and budget give the same
//!   answers on every machine, unless the caller cancels the search.
//! - A solution has at least one answer, and its answers are distinct.
//! - The solver never reads the solution of a test. It contains no stored answers and no table that
//!   is looked up by the content of a task.
//!
//! The crate performs no I/O, reads no clock, starts no threads and does not know task names.
//!
//! # Examples
//!
//! ```
//! use rhae_solve::{Budget, Method, solve_test};
//! use rhae_tasks::{SourceFile, load};
//!
//! // The outputs are the mirrored inputs.
//! let file = SourceFile {
//!     name: "mirror.json".to_owned(),
//!     text: r#"{
//!         "train": [
//!             {"input": [[1, 2, 0], [3, 0, 0]], "output": [[0, 2, 1], [0, 0, 3]]},
//!             {"input": [[0, 0, 4], [5, 0, 6]], "output": [[4, 0, 0], [6, 0, 5]]},
//!             {"input": [[7, 8, 8], [0, 7, 0]], "output": [[8, 8, 7], [0, 7, 0]]}
//!         ],
//!         "test": [{"input": [[9, 0, 1], [0, 0, 2]]}]
//!     }"#
//!     .to_owned(),
//! };
//! let set = load(&[file])?.sets.remove(0);
//! let task = set.task(&"mirror".parse()?)?;
//!
//! let solution = solve_test(task, 0, &Budget::default(), &|| false);
//! let best = &solution.answers[0];
//! assert_eq!(best.grid.to_string(), "[[1,0,9],[2,0,0]]");
//! assert_eq!(best.method, Method::Layers);
//! assert_eq!(best.program, "[whole] input; flip across");
//! assert_eq!((best.fits, best.pairs), (3, 3));
//! # Ok::<(), rhae_tasks::TasksError>(())
//! ```

mod arena;
mod candidate;
mod cells;
mod features;
mod graph;
mod image;
mod language;
mod layers;
mod meter;
mod objects;
mod op;
mod property;
mod roles;
mod rules;
mod size;
mod solver;
mod stack;
mod tree;

pub use candidate::{Candidate, LayerPicture, Method};
pub use solver::{Budget, Solution, solve_test};
