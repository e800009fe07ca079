//! Who may do what in a study.

pub use rhae_protocol::StudyRole as Role;

/// A group of requests that need the same permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Change the protocol, freeze, amend, open, pause and close.
    ChangeProtocol,
    /// Add and withdraw environments, sites and sessions.
    ManagePool,
    /// Check people in, assign seats, watch, extend and end sittings.
    RunSittings,
    /// See results of all environments.
    ReadResults,
    /// See results of the member's own environments.
    ReadOwnResults,
    /// Exclude, undo, and mark help.
    Review,
    PublishBaselines,
    ReadPayments,
    Pay,
    ExportPrivate,
    /// See identities. Every look is audited.
    ReadIdentities,
    Erase,
    ReadLog,
    ManageMembers,
}

impl Permission {
    pub const ALL: [Self; 14] = [
        Self::ChangeProtocol,
        Self::ManagePool,
        Self::RunSittings,
        Self::ReadResults,
        Self::ReadOwnResults,
        Self::Review,
        Self::PublishBaselines,
        Self::ReadPayments,
        Self::Pay,
        Self::ExportPrivate,
        Self::ReadIdentities,
        Self::Erase,
        Self::ReadLog,
        Self::ManageMembers,
    ];

    /// Returns the name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChangeProtocol => "change_protocol",
            Self::ManagePool => "manage_pool",
            Self::RunSittings => "run_sittings",
            Self::ReadResults => "read_results",
            Self::ReadOwnResults => "read_own_results",
            Self::Review => "review",
            Self::PublishBaselines => "publish_baselines",
            Self::ReadPayments => "read_payments",
            Self::Pay => "pay",
            Self::ExportPrivate => "export_private",
            Self::ReadIdentities => "read_identities",
            Self::Erase => "erase",
            Self::ReadLog => "read_log",
            Self::ManageMembers => "manage_members",
        }
    }
}

/// Returns whether a role has a permission.
///
/// # Examples
///
/// ```
/// use rhae_study::{Permission, Role, allows};
///
/// assert!(allows(Role::SiteStaff, Permission::RunSittings));
/// assert!(!allows(Role::SiteStaff, Permission::ReadResults));
/// ```
pub const fn allows(role: Role, permission: Permission) -> bool {
    use Permission as P;
    match role {
        Role::Owner => true,
        Role::Researcher => !matches!(permission, P::ManageMembers | P::ReadIdentities),
        Role::SiteStaff => matches!(permission, P::RunSittings),
        Role::Author => matches!(permission, P::ReadOwnResults),
        Role::Auditor => matches!(
            permission,
            P::ReadResults | P::ReadOwnResults | P::ReadPayments | P::ReadLog
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrix_is_the_documented_one() {
        let matrix: Vec<String> = Permission::ALL
            .into_iter()
            .map(|permission| {
                let cells = Role::ALL.map(|role| if allows(role, permission) { 'x' } else { '.' });
                format!("{} {permission:?}", String::from_iter(cells))
            })
            .collect();
        // Owner, researcher, site staff, author, auditor.
        assert_eq!(
            matrix,
            [
                "xx... ChangeProtocol",
                "xx... ManagePool",
                "xxx.. RunSittings",
                "xx..x ReadResults",
                "xx.xx ReadOwnResults",
                "xx... Review",
                "xx... PublishBaselines",
                "xx..x ReadPayments",
                "xx... Pay",
                "xx... ExportPrivate",
                "x.... ReadIdentities",
                "xx... Erase",
                "xx..x ReadLog",
                "x.... ManageMembers",
            ]
        );
    }
}
