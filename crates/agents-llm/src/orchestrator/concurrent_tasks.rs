//! Tasks without actions that several agents work on at the same time.

use std::sync::{Mutex, PoisonError};

use rhae_agents::AgentError;

use super::member::{Access, Member, Task};
use super::study::Shared;
use crate::engine::{Engine, ToolOutput};
use crate::threaded::Observation;

/// The tasks of one agent, each with its number, and the agent's copy of what all agents share.
struct Assignment<'a> {
    member: &'a mut Member,
    tasks: Vec<(usize, Task)>,
    shared: Shared,
}

/// Lets agents work on tasks without actions: the index of the agent, the number of the task, and the
/// task. Agents work at the same time; several tasks of one agent follow each other. Returns the
/// reports with the numbers of their tasks.
///
/// # Errors
///
/// Returns an error if the play cannot continue.
pub(super) fn work(
    tasks: Vec<(usize, usize, Task)>,
    members: &mut [Member],
    current: &Observation,
    shared: &mut Shared,
    engine: &mut Engine<'_>,
) -> Result<Vec<(usize, ToolOutput)>, AgentError> {
    let mut of_member: Vec<Vec<(usize, Task)>> = members.iter().map(|_| Vec::new()).collect();
    for (index, number, task) in tasks {
        of_member[index].push((number, task));
    }
    let busy = members.iter_mut().zip(of_member);
    let busy: Vec<_> = busy.filter(|(_, tasks)| !tasks.is_empty()).collect();
    let copies = shared.fork(busy.len());
    let assignments: Vec<Mutex<Assignment<'_>>> = busy
        .into_iter()
        .zip(copies)
        .map(|((member, tasks), shared)| {
            Mutex::new(Assignment {
                member,
                tasks,
                shared,
            })
        })
        .collect();
    let reports = engine.parallel(assignments.len(), |index, engine| {
        let assignment = assignments[index].lock();
        let mut assignment = assignment.unwrap_or_else(PoisonError::into_inner);
        assignment.work(current, engine)
    });
    let assignments = assignments.into_iter().map(|assignment| {
        let assignment = assignment.into_inner();
        assignment.unwrap_or_else(PoisonError::into_inner)
    });
    let memories = assignments.map(|assignment| assignment.shared.memories);
    shared.memories.join(memories.collect());
    let reports: Result<Vec<Vec<(usize, ToolOutput)>>, AgentError> = reports.into_iter().collect();
    Ok(reports?.into_iter().flatten().collect())
}

impl Assignment<'_> {
    fn work(
        &mut self,
        current: &Observation,
        engine: &mut Engine<'_>,
    ) -> Result<Vec<(usize, ToolOutput)>, AgentError> {
        let mut reports = Vec::new();
        for (number, task) in &self.tasks {
            let access = Access::Watch(current);
            let result = self.member.work(task, access, &mut self.shared, engine)?;
            reports.push((*number, result.output(&self.member.name)));
        }
        Ok(reports)
    }
}
