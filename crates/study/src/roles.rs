//! Who may do what in a study.

pub use rhae_protocol::{StudyPermission as Permission, StudyRole as Role};

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
