//! Agents that learn with neural networks, trained on the CPU while they play.
//!
//! | agent | description |
//! | --- | --- |
//! | [`Goose`] | learns which actions change the frame, and samples actions by that probability |
//! | [`SquirrelNetwork`] | the value model of `blind-squirrel` as a residual network |
//!
//! The agents implement [`rhae_agents::Agent`], and [`serve`] connects one of them to `rhae run
//! --agent-cmd`. The package is not part of the workspace, because the rest of Rhae needs no tensors.
//!
//! # Invariants
//!
//! * **Deterministic.** Weights, dropout, batches and actions derive from the seed of a play. A
//!   tensor operation writes each output element from one thread, so results do not depend on the
//!   number of threads.
//! * **Limits count work.** No decision depends on a clock.

mod action_index;
mod goose;
mod layers;
mod packed_frame;
mod serve;
mod value_network;

pub use action_index::{ActionIndex, OUTPUTS, SIMPLE_OUTPUTS};
pub use goose::{
    BUFFER_CAPACITY, Goose, GooseOptions, Learner, Network, NetworkKind, Sample, SampleBuffer,
    draw, loss, weights,
};
pub use packed_frame::PackedFrame;
pub use serve::{ServeError, serve};
pub use value_network::SquirrelNetwork;
