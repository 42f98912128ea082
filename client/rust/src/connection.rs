use std::sync::Arc;

use crate::hedging::{Budget, Hedging};
use crate::retry::Retry;
use crate::servers::Servers;

/// What all calls of a client share.
pub(crate) struct Connection {
    pub(crate) servers: Arc<Servers>,
    pub(crate) model: String,
    pub(crate) retry: Retry,
    pub(crate) hedging: Option<Hedging>,
    /// Bytes; 0: calls go to servers in turn.
    pub(crate) affinity: usize,
    pub(crate) budget: Budget,
}
