//! The closed sets of values in the documents of a human study.
//!
//! *Invariant:* the name of a value in JSON, in tables and in messages is the same.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Defines enums with the names of their values.
///
/// A name is a token tree, because utoipa ignores a literal fragment in `rename`.
macro_rules! terms {
    ($($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:tt,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
        pub enum $name {
            $($(#[$value_doc])* #[serde(rename = $text)] $value,)+
        }

        impl $name {
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$value),+];

            /// Returns the name in files, messages and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    )+};
}

terms! {
    /// The phase of a study. A study leaves the draft only with a frozen protocol and never leaves
    /// `Closed`.
    StudyPhase {
        Draft = "draft",
        Open = "open",
        Paused = "paused",
        Closed = "closed",
    }

    /// The verdict on an environment version.
    StudyVerdict {
        /// The target is not reached, and too few people have solved the environment.
        Collecting = "collecting",
        /// Enough people have solved the environment, but the target is not reached.
        Passing = "passing",
        /// The target is reached, and enough people have solved the environment.
        Accepted = "accepted",
        /// The target is reached, and too few people have solved the environment.
        Returned = "returned",
        /// The environment was withdrawn.
        Stopped = "stopped",
    }

    /// What a play counts as.
    AttemptStanding {
        Solved = "solved",
        Failed = "failed",
        /// The play was interrupted. It is neither a success nor a failure, but the levels that were
        /// completed count.
        Censored = "censored",
        /// The play is not an attempt.
        NotCounted = "not_counted",
    }

    /// How far an assigned environment is.
    AttemptState {
        Reserved = "reserved",
        Playing = "playing",
        Ended = "ended",
        /// The environment was given back before its first frame.
        Released = "released",
    }

    /// What the low-effort rule says about a sitting.
    EffortVerdict {
        Kept = "kept",
        /// One of the two conditions holds. A researcher should look at the sitting.
        Flagged = "flagged",
        Excluded = "excluded",
    }

    /// How far a payment is.
    PaymentState {
        Due = "due",
        Sent = "sent",
        Confirmed = "confirmed",
    }

    /// A group of requests that need the same permission.
    StudyPermission {
        /// Change the protocol, freeze, amend, open, pause and close.
        ChangeProtocol = "change_protocol",
        /// Add and withdraw environments, sites and sessions.
        ManagePool = "manage_pool",
        /// Check people in, assign seats, watch, extend and end sittings.
        RunSittings = "run_sittings",
        /// See results of all environments.
        ReadResults = "read_results",
        /// See results of the member's own environments.
        ReadOwnResults = "read_own_results",
        /// Exclude, undo, and mark help.
        Review = "review",
        PublishBaselines = "publish_baselines",
        ReadPayments = "read_payments",
        Pay = "pay",
        ExportPrivate = "export_private",
        /// See identities. Every look is audited.
        ReadIdentities = "read_identities",
        Erase = "erase",
        ReadLog = "read_log",
        ManageMembers = "manage_members",
    }
}

impl AttemptStanding {
    /// Returns whether the play is a valid attempt: a success or a failure.
    pub const fn is_valid(self) -> bool {
        matches!(self, Self::Solved | Self::Failed)
    }

    /// Returns whether completed levels of the play contribute to baselines.
    pub const fn contributes(self) -> bool {
        !matches!(self, Self::NotCounted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_serialised_form() {
        for phase in StudyPhase::ALL {
            assert_eq!(serde_json::to_value(phase).unwrap(), phase.name());
        }
        for permission in StudyPermission::ALL {
            let text = serde_json::to_string(&permission).unwrap();
            let read: StudyPermission = serde_json::from_str(&text).unwrap();
            assert_eq!(read, permission);
        }
        assert_eq!(format!("{:9}|", StudyVerdict::Passing), "passing  |");
    }
}
