use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::sync;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tonic::transport::Channel;

use crate::affinity::Ring;
use crate::server::{look_up_at_times, watch, Health, Opener};
use crate::target::Address;
use crate::Error;

/// Names are not resolved more often than this.
const LOOK_UP_AFTER: Duration = Duration::from_secs(5);

struct Server {
    channel: Channel,
    health: Health,
    /// Its watch, or what stands in for it.
    task: AbortHandle,
}

#[derive(Default)]
struct State {
    servers: BTreeMap<SocketAddr, Server>,
    next: usize,
    ring: Ring,
}

impl State {
    /// The server of a key. One that is being connected to keeps its keys.
    fn server_of(&self, key: &str) -> Option<&Server> {
        let good = |address: &SocketAddr| {
            let health = self.servers.get(address).map(|server| &server.health);
            matches!(health, Some(Health::Serving | Health::Connecting))
        };
        self.servers.get(&self.ring.find(key, good)?)
    }
}

/// All servers of a client: gRPC's round_robin with health checks, which tonic does
/// not have, and its ring_hash for calls with keys. They are found and connected to when first asked for; names are
/// resolved again when a server is lost, and at times if health is not watched.
pub(crate) struct Servers {
    addresses: Vec<Address>,
    opener: Opener,
    watched: bool,
    state: Mutex<State>,
    changed: sync::watch::Sender<()>,
    looked_up: sync::Mutex<Option<Instant>>,
}

enum Choice {
    Server(Channel),
    /// Some are being connected to.
    Later,
    /// No names have been resolved.
    Unknown,
    Nothing(Error),
}

impl Servers {
    pub(crate) fn new(addresses: Vec<Address>, opener: Opener, watched: bool) -> Arc<Self> {
        Arc::new(Self {
            addresses,
            opener,
            watched,
            state: Mutex::default(),
            changed: sync::watch::Sender::new(()),
            looked_up: sync::Mutex::new(None),
        })
    }

    /// The next server that is serving, or that of the key; with `any` one that is
    /// not serving, too. Waits for those that are being connected to; UNAVAILABLE if
    /// there are no such either.
    pub(crate) async fn pick(
        self: &Arc<Self>,
        key: Option<&str>,
        any: bool,
    ) -> Result<Channel, Error> {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            match self.choose(key, any) {
                Choice::Server(channel) => return Ok(channel),
                Choice::Nothing(error) => return Err(error),
                Choice::Unknown => self.look_up(Duration::ZERO).await?,
                // An error would mean that there are no servers any more.
                Choice::Later => changed.changed().await.unwrap_or_default(),
            }
        }
    }

    fn choose(&self, key: Option<&str>, any: bool) -> Choice {
        let state = &mut *self.state.lock().unwrap();
        if state.servers.is_empty() {
            return Choice::Unknown;
        }
        if let Some(server) = key.and_then(|key| state.server_of(key)) {
            return match server.health {
                Health::Serving => Choice::Server(server.channel.clone()),
                _ => Choice::Later,
            };
        }
        let good = |server: &&Server| {
            server.health == Health::Serving || (any && server.health == Health::NotServing)
        };
        let serving = state.servers.values().filter(good).count();
        if serving > 0 {
            let server = state.servers.values().filter(good).nth(state.next % serving).unwrap();
            let channel = server.channel.clone();
            state.next = state.next.wrapping_add(1);
            return Choice::Server(channel);
        }
        if state.servers.values().any(|server| server.health == Health::Connecting) {
            return Choice::Later;
        }
        let each = state.servers.iter();
        let texts: Vec<_> = each
            .map(|(address, server)| match &server.health {
                Health::Lost(why) => format!("{address} is lost: {why}"),
                _ => format!("{address} is not serving"),
            })
            .collect();
        Choice::Nothing(Error::unavailable(texts.join("; ")))
    }

    /// What a watch says of a server.
    pub(crate) fn set(&self, address: SocketAddr, health: Health) {
        if let Some(server) = self.state.lock().unwrap().servers.get_mut(&address) {
            server.health = health;
        }
        self.changed.send_replace(());
    }

    /// If that was not done just now. Nobody waits for it, since DNS may be slow.
    /// Servers that are known stay if it fails.
    pub(crate) fn look_up_again(self: &Arc<Self>) {
        let recent = |last: Instant| last.elapsed() < LOOK_UP_AFTER;
        // Who holds the lock is looking up.
        if self.looked_up.try_lock().map_or(true, |last| last.is_some_and(recent)) {
            return;
        }
        let owner = self.clone();
        tokio::spawn(async move {
            let _ = owner.look_up(LOOK_UP_AFTER).await;
        });
    }

    /// Resolves the names; several calls at once share one answer.
    async fn look_up(self: &Arc<Self>, after: Duration) -> Result<(), Error> {
        let mut last = self.looked_up.lock().await;
        let recent = last.is_some_and(|last| last.elapsed() < after);
        let known = !self.state.lock().unwrap().servers.is_empty();
        if known && (recent || after.is_zero()) {
            return Ok(());
        }
        *last = Some(Instant::now());
        let found = self.resolve().await?;
        let mut state = self.state.lock().unwrap();
        let gone = |address: &SocketAddr| !found.contains(address);
        state.servers.retain(|address, server| {
            if gone(address) {
                server.task.abort();
            }
            !gone(address)
        });
        for address in found {
            if !state.servers.contains_key(&address) {
                state.servers.insert(address, self.open(address)?);
            }
        }
        let addresses: Vec<_> = state.servers.keys().copied().collect();
        state.ring = Ring::new(&addresses);
        drop(state);
        self.changed.send_replace(());
        Ok(())
    }

    /// A name that is not known is left out, unless none is.
    async fn resolve(&self) -> Result<BTreeSet<SocketAddr>, Error> {
        let mut found = BTreeSet::new();
        let mut unknown = Vec::new();
        for Address { host, port } in &self.addresses {
            match lookup_host((host.as_str(), *port)).await {
                Ok(addresses) => found.extend(addresses),
                Err(error) => unknown.push(format!("address '{host}': {error}")),
            }
        }
        if found.is_empty() {
            return Err(Error::unavailable(unknown.join("; ")));
        }
        Ok(found)
    }

    fn open(self: &Arc<Self>, address: SocketAddr) -> Result<Server, Error> {
        let channel = self.opener.open(address)?;
        let servers = Arc::downgrade(self);
        let (health, task) = if self.watched {
            (Health::Connecting, tokio::spawn(watch(servers, address, channel.clone())))
        } else {
            (Health::Serving, tokio::spawn(look_up_at_times(servers)))
        };
        Ok(Server { channel, health, task: task.abort_handle() })
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let servers = &self.state.get_mut().unwrap().servers;
        servers.values().for_each(|server| server.task.abort());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::CallOptions;
    use crate::connection::Connection;
    use crate::hedging::Budget;
    use crate::{Client, Retry};

    /// As if the name had stood for another address.
    async fn moved(servers: &Arc<Servers>) {
        let elsewhere = ([127, 0, 0, 2], 1).into();
        let server = servers.open(elsewhere).unwrap();
        servers.state.lock().unwrap().servers = BTreeMap::from([(elsewhere, server)]);
        *servers.looked_up.lock().await = None;
    }

    #[tokio::test]
    async fn names_are_resolved_again_when_nobody_answers() {
        let address = Address { host: "127.0.0.1".into(), port: 1 };
        let name = "http://127.0.0.1:1".parse().unwrap();
        let opener = Opener { name, tls: None, change: |endpoint| endpoint };
        let servers = Servers::new(vec![address], opener, false);
        moved(&servers).await;
        let mut changed = servers.changed.subscribe();
        let connection = Connection {
            servers: servers.clone(),
            model: String::new(),
            retry: Retry { max_attempts: 1, ..Retry::default() },
            hedging: None,
            affinity: 0,
            budget: Budget::new(),
        };
        let client = Client::new(Arc::new(connection), CallOptions::default());
        client.models().await.unwrap_err();
        changed.changed().await.unwrap();
        let known: Vec<_> = servers.state.lock().unwrap().servers.keys().copied().collect();
        assert_eq!(known, [SocketAddr::from(([127, 0, 0, 1], 1))]);
    }
}
