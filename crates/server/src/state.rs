//! The state of the router. A handler extracts the service that it needs, and nothing else.

use std::sync::Arc;

use axum::extract::FromRef;

use crate::Server;
use crate::access::Access;
use crate::boards::Boards;
use crate::cards::Cards;
use crate::games::Games;
use crate::listeners::Listeners;
use crate::network::Network;
use crate::plays::Plays;
use crate::shares::Shares;
use crate::studies::Studies;
use crate::web::Thumbnails;

/// The server behind a router.
#[derive(Clone)]
pub(crate) struct AppState(Arc<Server>);

impl AppState {
    pub(crate) const fn new(server: Arc<Server>) -> Self {
        Self(server)
    }

    /// The whole server, for the middleware.
    pub(crate) fn server(&self) -> &Server {
        &self.0
    }
}

/// Makes services available to handlers as `State<Arc<Service>>`.
macro_rules! services {
    ($($field:ident: $service:ty),* $(,)?) => {$(
        impl FromRef<AppState> for Arc<$service> {
            fn from_ref(state: &AppState) -> Self {
                Arc::clone(&state.0.$field)
            }
        }
    )*};
}

services! {
    access: Access,
    boards: Boards,
    cards: Cards,
    games: Games,
    listeners: Listeners,
    network: Network,
    plays: Plays,
    shares: Shares,
    studies: Studies,
    thumbnails: Thumbnails,
}
