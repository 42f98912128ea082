use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::sync;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tonic::transport::Channel;

use crate::server::{watch, Health, Opener};
use crate::target::Address;
use crate::Error;

/// Names are not resolved more often than this.
const LOOK_UP_AFTER: Duration = Duration::from_secs(5);

struct Server {
    channel: Channel,
    health: Health,
    watch: Option<AbortHandle>,
}

#[derive(Default)]
struct State {
    servers: BTreeMap<SocketAddr, Server>,
    next: usize,
}

/// All servers of a client: gRPC's round_robin with health checks, which tonic does
/// not have. They are found and connected to when first asked for; names are
/// resolved again when a server is lost.
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

    /// The next server that is serving. Waits for those that are being connected
    /// to; UNAVAILABLE if there are no such either.
    pub(crate) async fn pick(self: &Arc<Self>) -> Result<Channel, Error> {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            match self.choose() {
                Choice::Server(channel) => return Ok(channel),
                Choice::Nothing(error) => return Err(error),
                Choice::Unknown => self.look_up(Duration::ZERO).await?,
                // An error would mean that there are no servers any more.
                Choice::Later => changed.changed().await.unwrap_or_default(),
            }
        }
    }

    fn choose(&self) -> Choice {
        let state = &mut *self.state.lock().unwrap();
        if state.servers.is_empty() {
            return Choice::Unknown;
        }
        let of = |health: Health| {
            let same = move |server: &&Server| server.health == health;
            state.servers.values().filter(same)
        };
        let serving = of(Health::Serving).count();
        if serving > 0 {
            let server = of(Health::Serving).nth(state.next % serving).unwrap();
            let channel = server.channel.clone();
            state.next = state.next.wrapping_add(1);
            return Choice::Server(channel);
        }
        if of(Health::Connecting).next().is_some() {
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

    /// If that was not done just now. Servers that are known stay if it fails.
    pub(crate) async fn look_up_again(self: &Arc<Self>) {
        let _ = self.look_up(LOOK_UP_AFTER).await;
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
                server.watch.iter().for_each(AbortHandle::abort);
            }
            !gone(address)
        });
        for address in found {
            if !state.servers.contains_key(&address) {
                state.servers.insert(address, self.open(address)?);
            }
        }
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
        let task = || watch(Arc::downgrade(self), address, channel.clone());
        let watch = self.watched.then(|| tokio::spawn(task()).abort_handle());
        Ok(Server {
            health: match watch {
                Some(_) => Health::Connecting,
                None => Health::Serving,
            },
            channel,
            watch,
        })
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let servers = &self.state.get_mut().unwrap().servers;
        let watches = servers.values().filter_map(|server| server.watch.as_ref());
        watches.for_each(AbortHandle::abort);
    }
}
