//! The size of a task: its pairs, its tests and their grids.

use rhae_tasks::{Grid, Task, TaskId};
use serde::Serialize;

use crate::plan::PlannedSet;

/// The size of a task, by which results can be grouped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskShape {
    pub set: String,
    pub task: TaskId,
    pub training_pairs: usize,
    /// The number of selected tests.
    pub tests: usize,
    /// The height and width of each grid.
    pub training_inputs: Vec<[usize; 2]>,
    pub training_outputs: Vec<[usize; 2]>,
    pub test_inputs: Vec<[usize; 2]>,
}

/// Returns the sizes of the selected tasks of a set.
pub(super) fn task_shapes(planned: &PlannedSet) -> impl Iterator<Item = TaskShape> {
    planned.selection.iter().filter_map(|(id, tests)| {
        let task: &Task = planned.set.tasks.get(id)?;
        let inputs = tests.iter().filter_map(|&test| task.test.get(test));
        Some(TaskShape {
            set: planned.set.name.clone(),
            task: id.clone(),
            training_pairs: task.train.len(),
            tests: tests.len(),
            training_inputs: task.train.iter().map(|pair| size(&pair.input)).collect(),
            training_outputs: task.train.iter().map(|pair| size(&pair.output)).collect(),
            test_inputs: inputs.map(|test| size(&test.input)).collect(),
        })
    })
}

fn size(grid: &Grid) -> [usize; 2] {
    [grid.height(), grid.width()]
}

#[cfg(test)]
mod tests {
    use rhae_tasks::{Pair, TaskSet, Test};

    use super::*;

    #[test]
    fn only_selected_tests_count() {
        let grid = |height: usize, width: usize| Grid::new(&vec![vec![1; width]; height]).unwrap();
        let test = |width| Test {
            input: grid(1, width),
            output: None,
        };
        let task = Task {
            train: vec![Pair {
                input: grid(2, 3),
                output: grid(4, 1),
            }],
            test: vec![test(5), test(6)],
        };
        let id: TaskId = "t1".parse().unwrap();
        let set = TaskSet {
            name: "s".to_owned(),
            tasks: [(id.clone(), task)].into(),
        };
        let planned = PlannedSet {
            set,
            selection: [(id, vec![1])].into(),
        };
        let shape = task_shapes(&planned).next().unwrap();
        assert_eq!((shape.training_pairs, shape.tests), (1, 1));
        assert_eq!(shape.training_inputs, [[2, 3]]);
        assert_eq!(shape.training_outputs, [[4, 1]]);
        assert_eq!(shape.test_inputs, [[1, 6]]);
    }
}
