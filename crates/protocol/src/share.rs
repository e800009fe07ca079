//! Links that publish scorecards and plays, as the API lists them.

use serde::Serialize;
use utoipa::ToSchema;

/// A link that publishes a scorecard or a play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ShareListing {
    /// Public id of the link, by which it is revoked.
    pub id: String,
    /// Id of the published scorecard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card_id: Option<String>,
    /// Id of the published play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guid: Option<String>,
    /// Time at which the link was created.
    pub created_at: String,
    /// Time at which the link was revoked; `null` if it works.
    pub revoked_at: Option<String>,
    /// Path of the published page on this server. It contains the secret of the link, so it is
    /// present only in the response that creates the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}
