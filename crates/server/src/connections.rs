//! The connections that are open at the same time: their number, and how clients share them.
//!
//! If all connections are in use, a client with fewer connections than others takes the place of one
//! that waits for its next request or streams a response. Other clients wait for a short time.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::ApiError;
use crate::connection::Activity;
use crate::fair_pool::{FairPool, Refusal};
use crate::network::ClientAddress;

/// The number of accepted connections that may wait for a slot.
const MAX_WAITING: usize = 256;

/// The slots for connections.
pub(crate) struct Connections {
    max_per_address: Option<usize>,
    /// How long a connection waits for a slot.
    timeout: Duration,
    table: Mutex<Table>,
    released: Notify,
}

struct Table {
    pool: FairPool<ClientAddress, Occupant>,
    waiting: usize,
    closed: bool,
}

/// An open connection.
#[derive(Clone)]
struct Occupant {
    activity: Arc<Activity>,
    evicted: Arc<Notify>,
}

/// The slot of a connection, which is free again when this is dropped.
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    address: ClientAddress,
    id: u64,
    evicted: Arc<Notify>,
}

impl ConnectionSlot {
    /// Waits until another client needs the slot.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

impl Connections {
    pub(crate) fn new(max: usize, max_per_address: Option<usize>, timeout: Duration) -> Self {
        Self {
            max_per_address,
            timeout,
            table: Mutex::new(Table {
                pool: FairPool::new(max),
                waiting: 0,
                closed: false,
            }),
            released: Notify::new(),
        }
    }

    /// Takes a slot for a connection. Waits while all are in use. The limit per address does not
    /// apply to an `exempt` peer, such as a proxy.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        peer: IpAddr,
        exempt: bool,
        activity: &Arc<Activity>,
    ) -> Result<ConnectionSlot, ApiError> {
        if let Some(slot) = self.try_admit(peer, exempt, activity)? {
            return Ok(slot);
        }
        let _waiting = Waiting::start(self).ok_or(ApiError::TooManyConnections)?;
        let waited = tokio::time::timeout(self.timeout, async {
            loop {
                let mut released = pin!(self.released.notified());
                // Registers before the attempt, so that no release is missed in between.
                released.as_mut().enable();
                if let Some(slot) = self.try_admit(peer, exempt, activity)? {
                    return Ok(slot);
                }
                released.await;
            }
        });
        waited.await.map_err(|_| ApiError::TooManyConnections)?
    }

    /// Refuses all connections that wait for a slot, because the server shuts down.
    pub(crate) fn close(&self) {
        self.table().closed = true;
        self.released.notify_waiters();
    }

    fn try_admit(
        self: &Arc<Self>,
        peer: IpAddr,
        exempt: bool,
        activity: &Arc<Activity>,
    ) -> Result<Option<ConnectionSlot>, ApiError> {
        let address = ClientAddress::from(peer);
        let occupant = Occupant {
            activity: Arc::clone(activity),
            evicted: Arc::default(),
        };
        let max = self.max_per_address.filter(|_| !exempt);
        let mut table = self.table();
        if table.closed {
            return Err(ApiError::TooManyConnections);
        }
        // A request in progress is not cut off.
        let may_evict = |occupant: &Occupant| !occupant.activity.is_busy();
        match table.pool.admit(&address, max, &occupant, may_evict) {
            Ok(admitted) => {
                if let Some(evicted) = admitted.evicted {
                    evicted.evicted.notify_one();
                }
                Ok(Some(ConnectionSlot {
                    connections: Arc::clone(self),
                    address,
                    id: admitted.id,
                    evicted: occupant.evicted,
                }))
            }
            Err(Refusal::HolderLimit(max)) => Err(ApiError::AddressConnections(max)),
            Err(Refusal::Full) => Ok(None),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // No code that holds the lock panics between two related changes, so a poisoned table is
        // consistent.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections
            .table()
            .pool
            .release(&self.address, self.id);
        self.connections.released.notify_waiters();
    }
}

/// A connection that waits for a slot.
struct Waiting<'a>(&'a Connections);

impl<'a> Waiting<'a> {
    fn start(connections: &'a Connections) -> Option<Self> {
        let mut table = connections.table();
        if table.waiting >= MAX_WAITING {
            return None;
        }
        table.waiting += 1;
        Some(Self(connections))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.table().waiting -= 1;
    }
}
