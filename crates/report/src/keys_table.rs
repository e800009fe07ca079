//! API keys as plain text for a terminal.

use std::fmt::Write as _;

use rhae_protocol::{KeyLimitsListing, KeyListing, compact_utc};

/// Formats a list of keys and invitations, one line each. `now_ms` is the current time, in
/// milliseconds since 1970.
pub fn keys_table(keys: &[KeyListing], now_ms: u64) -> String {
    let mut text = format!(
        "{:16}  {:28}  {:15}  {:15}  {:8}  {:24}  name\n",
        "id", "scopes", "created", "expires", "state", "limits"
    );
    for key in keys {
        let mut scopes: Vec<&str> = key.sets.iter().map(String::as_str).collect();
        scopes.extend(key.sources.then_some("sources"));
        scopes.extend(key.admin.then_some("admin"));
        scopes.extend((key.visitor && key.invitation.is_none()).then_some("visitor"));
        let until_ms = key
            .invitation
            .as_ref()
            .map(|invitation| invitation.until_ms);
        let expires_ms = until_ms.or(key.expires_ms);
        let state = match (key.revoked_ms, &key.invitation) {
            (Some(_), _) => "revoked".to_owned(),
            _ if expires_ms.is_some_and(|expires_ms| expires_ms <= now_ms) => "expired".to_owned(),
            (None, Some(invitation)) => format!("{} left", invitation.left),
            (None, None) => "active".to_owned(),
        };
        let (scopes, created) = (scopes.join(","), compact_utc(key.created_ms));
        let expires = expires_ms.map_or_else(|| "never".to_owned(), compact_utc);
        let _ = writeln!(
            text,
            "{:16}  {scopes:28}  {created:15}  {expires:15}  {state:8}  {:24}  {}",
            key.id,
            limits_text(key),
            crate::plain(&key.name)
        );
    }
    text
}

/// Lists the limits of a key that differ from those of the server.
fn limits_text(key: &KeyListing) -> String {
    let KeyLimitsListing {
        requests_per_minute,
        open_cards,
        plays_per_card,
        stored_bytes,
    } = key.limits;
    let limit = |value: Option<u64>, unit: &str| match value? {
        0 => Some(format!("any {unit}")),
        value => Some(format!("{value} {unit}")),
    };
    let lifetime_ms = key
        .invitation
        .as_ref()
        .and_then(|invitation| invitation.key_lifetime_ms);
    let parts = [
        limit(requests_per_minute.map(u64::from), "requests/min"),
        limit(open_cards.map(u64::from), "open cards"),
        limit(plays_per_card.map(u64::from), "plays/card"),
        limit(stored_bytes, "bytes"),
        lifetime_ms.map(|lifetime_ms| format!("keys for {} days", lifetime_ms / 86_400_000)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        "of the server".to_owned()
    } else {
        parts.join(", ")
    }
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
            expires_ms: None,
            limits: KeyLimitsListing::default(),
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
                key_lifetime_ms: Some(2 * 86_400_000),
            }),
            ..key.clone()
        };
        let limited = KeyListing {
            expires_ms: Some(7),
            limits: KeyLimitsListing {
                requests_per_minute: Some(10),
                stored_bytes: Some(0),
                ..KeyLimitsListing::default()
            },
            ..key.clone()
        };
        let table = keys_table(&[key, revoked, invitation, limited.clone()], 6);
        let lines: Vec<&str> = table.lines().skip(1).collect();
        assert!(lines[0].contains("public,sources  ") && lines[0].contains("active"));
        assert!(lines[0].ends_with("lab\u{FFFD}"));
        assert!(lines[1].contains("revoked"));
        assert!(lines[2].contains("3 left") && !lines[2].contains("visitor"));
        assert!(lines[2].contains("keys for 2 days"));
        assert!(lines[3].contains("active") && lines[3].contains("10 requests/min, any bytes"));
        assert!(lines[0].contains("never") && lines[0].contains("of the server"));
        assert!(keys_table(&[limited], 7).contains("expired"));
    }
}
