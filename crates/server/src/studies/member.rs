//! Who may do what in a study: the role of a caller.

use std::collections::BTreeSet;

use rhae_protocol::{EnvironmentVersion, StudyId};
use rhae_study::{Permission, Role, StudyState, allows};

use super::Studies;
use crate::ApiError;
use crate::access::{Access, Caller};

/// The role of a caller in a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Membership {
    pub(crate) study: StudyId,
    pub(crate) role: Role,
    /// The environments of an author.
    environments: BTreeSet<EnvironmentVersion>,
    /// How records name the caller.
    pub(crate) by: String,
}

impl Membership {
    pub(crate) fn may(&self, permission: Permission) -> bool {
        allows(self.role, permission)
    }

    pub(crate) fn require(&self, permission: Permission) -> Result<(), ApiError> {
        if self.may(permission) {
            return Ok(());
        }
        Err(ApiError::StudyForbidden {
            role: self.role.name(),
            permission: permission.name(),
        })
    }

    /// Requires access to results: to all of them, or at least to those of the member's own
    /// environments.
    pub(crate) fn require_results(&self) -> Result<(), ApiError> {
        if self.may(Permission::ReadResults) {
            return Ok(());
        }
        self.require(Permission::ReadOwnResults)
    }

    /// Whether the member may see the results of an environment.
    pub(crate) fn sees(&self, environment: &EnvironmentVersion) -> bool {
        self.may(Permission::ReadResults)
            || (self.may(Permission::ReadOwnResults) && self.environments.contains(environment))
    }
}

impl Studies {
    /// Returns the role of a caller. A study in which the caller has none is handled like one that
    /// does not exist.
    pub(crate) async fn membership(
        &self,
        access: &Access,
        caller: &Caller,
        study: &str,
    ) -> Result<Membership, ApiError> {
        let id = StudyId::from(study);
        let missing = || ApiError::NoSuchStudy(study.to_owned());
        let found = self.read(&id, |one| membership(access, caller, one.state()));
        match found.await {
            Ok(found) => found.ok_or_else(missing),
            Err(error) => Err(error),
        }
    }
}

/// Returns the role of a caller; `None` if the caller has none.
pub(super) fn membership(
    access: &Access,
    caller: &Caller,
    state: &StudyState,
) -> Option<Membership> {
    let key = caller.key.map(|key| key.to_string());
    let owns = access.is_open() || caller.is_admin();
    let member = key.as_ref().and_then(|key| state.members.get(key));
    let (role, environments) = match member {
        _ if owns => (Role::Owner, BTreeSet::new()),
        Some(member) => (member.role, member.environments.clone()),
        None => return None,
    };
    Some(Membership {
        study: state.id.clone(),
        role,
        environments,
        by: key.unwrap_or_else(|| "operator".to_owned()),
    })
}
