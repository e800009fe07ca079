//! API keys as plain text for a terminal.

use std::fmt::Write as _;

use rhae_protocol::{KeyListing, compact_utc};

/// Formats a list of keys and invitations, one line each.
pub fn keys_table(keys: &[KeyListing]) -> String {
    let mut text = format!(
        "{:16}  {:28}  {:15}  {:8}  name\n",
        "id", "scopes", "created", "state"
    );
    for key in keys {
        let mut scopes: Vec<&str> = key.sets.iter().map(String::as_str).collect();
        scopes.extend(key.sources.then_some("sources"));
        scopes.extend(key.admin.then_some("admin"));
        scopes.extend((key.visitor && key.invitation.is_none()).then_some("visitor"));
        let state = match (key.revoked_ms, &key.invitation) {
            (Some(_), _) => "revoked".to_owned(),
            (None, Some(invitation)) => format!("{} left", invitation.left),
            (None, None) => "active".to_owned(),
        };
        let (scopes, created) = (scopes.join(","), compact_utc(key.created_ms));
        let _ = writeln!(
            text,
            "{:16}  {scopes:28}  {created:15}  {state:8}  {}",
            key.id,
            crate::plain(&key.name)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use rhae_protocol::InvitationListing;

    use super::*;

    #[test]
    fn state_and_scopes_of_each_key_are_listed() {
        let key = KeyListing {
            id: "00000000000000ff".to_owned(),
            name: "lab\x1b".to_owned(),
            sets: vec!["public".to_owned()],
            sources: true,
            admin: false,
            created_ms: 0,
            revoked_ms: None,
            visitor: false,
            invitation: None,
            link: None,
            key: None,
        };
        let revoked = KeyListing {
            revoked_ms: Some(1),
            ..key.clone()
        };
        let invitation = KeyListing {
            visitor: true,
            invitation: Some(InvitationListing {
                left: 3,
                until_ms: 9,
            }),
            ..key.clone()
        };
        let table = keys_table(&[key, revoked, invitation]);
        let lines: Vec<&str> = table.lines().skip(1).collect();
        assert!(lines[0].contains("public,sources  ") && lines[0].contains("active"));
        assert!(lines[0].ends_with("lab\u{FFFD}"));
        assert!(lines[1].contains("revoked"));
        assert!(lines[2].contains("3 left") && !lines[2].contains("visitor"));
    }
}
