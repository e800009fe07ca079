//! Parity with the description of the original agents, and whole plays.

mod command;
mod goose_rules;
mod learning;
mod networks;
mod plays;
mod samples;
mod sampling;

use burn::Tensor;
use burn::module::{Module, ModuleVisitor, Param};
use rhae_agents::View;
use rhae_engine::{ActionSet, Frame, PlayState};

/// The shapes and values of all parameters, in the order of the layers.
#[derive(Default, PartialEq)]
struct Parameters {
    shapes: Vec<Vec<usize>>,
    values: Vec<f32>,
}

impl Parameters {
    fn of(module: &impl Module) -> Self {
        let mut parameters = Self::default();
        module.visit(&mut parameters);
        parameters
    }
}

impl ModuleVisitor for Parameters {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.shapes.push(param.val().dims().to_vec());
        let values: Vec<f32> = param.val().try_to_vec_as().unwrap();
        self.values.extend(values);
    }
}

/// A view of the first level.
fn view(frames: &[Frame], available: ActionSet) -> View<'_> {
    View {
        frames,
        state: PlayState::NotFinished,
        levels_completed: 0,
        win_levels: 3,
        available,
        full_reset: false,
    }
}
