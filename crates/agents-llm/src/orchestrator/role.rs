//! The roles of the agents that an orchestrator starts.

/// A role: what an agent is for, and whether it may act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Acts to find out what things and actions do.
    Explorer,
    /// Cannot act. Turns observations into hypotheses.
    Theorist,
    /// Acts a little, to confirm or refute one hypothesis.
    Tester,
    /// Acts to complete the level.
    Solver,
}

impl Role {
    pub(super) const ALL: [Self; 4] = [Self::Explorer, Self::Theorist, Self::Tester, Self::Solver];

    /// Returns the name, which is also that of the prompt.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Explorer => "explorer",
            Self::Theorist => "theorist",
            Self::Tester => "tester",
            Self::Solver => "solver",
        }
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Returns the actions that a task of this role may use if the orchestrator does not say.
    pub(super) const fn default_actions(self) -> u32 {
        match self {
            Self::Explorer => 30,
            Self::Theorist => 0,
            Self::Tester => 10,
            Self::Solver => 60,
        }
    }

    /// Returns the maximum of the actions of a task.
    pub(super) const fn max_actions(self) -> u32 {
        match self {
            Self::Explorer | Self::Solver => 200,
            Self::Theorist => 0,
            Self::Tester => 40,
        }
    }

    pub(super) const fn can_act(self) -> bool {
        self.max_actions() > 0
    }
}

/// The names of the roles, for which a user can select models.
pub(crate) const NAMES: &[&str] = &["explorer", "theorist", "tester", "solver"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_roles_agree() {
        assert_eq!(Role::ALL.map(Role::name), NAMES);
        for role in Role::ALL {
            assert_eq!(Role::parse(role.name()), Some(role));
            assert!(role.default_actions() <= role.max_actions());
        }
        assert_eq!(Role::parse("orchestrator"), None);
    }
}
