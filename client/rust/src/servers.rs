use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::sync;
use tokio::task::AbortHandle;
use tokio::time::{sleep, Instant};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint, Uri};
use tonic::{Code, Status};

use crate::health::health_check_response::ServingStatus;
use crate::health::health_client::HealthClient;
use crate::health::HealthCheckRequest;
use crate::retry::contained;
use crate::Error;

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// Where servers are. DNS may name several.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Address {
    /// Of HOST:PORT.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let wrong = || Error::invalid(format!("address '{text}' must be HOST:PORT"));
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let inner = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        let host = inner.unwrap_or(host);
        let strange = |letter: char| "[]/@?#".contains(letter) || letter.is_whitespace();
        if host.is_empty() || host.contains(strange) {
            return Err(wrong());
        }
        Ok(Self { host: host.to_owned(), port: port.parse().map_err(|_| wrong())? })
    }
}

/// Makes channels to servers, all of which go by one name.
pub(crate) struct Opener {
    pub(crate) name: Uri,
    pub(crate) tls: Option<ClientTlsConfig>,
    pub(crate) change: fn(Endpoint) -> Endpoint,
}

impl Opener {
    pub(crate) fn endpoint(&self, address: SocketAddr) -> Result<Endpoint, Error> {
        let scheme = self.tls.as_ref().map_or("http", |_| "https");
        let wrong = |error: tonic::transport::Error| Error::invalid(Error::describe(&error));
        // A server that does not answer a ping is given up, and its calls are made
        // again elsewhere. A server takes a ping in 10 s (--min-ping-interval).
        let mut endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))
            .map_err(wrong)?
            .origin(self.name.clone())
            .connect_timeout(Duration::from_secs(20))
            .http2_keep_alive_interval(Duration::from_secs(12))
            .keep_alive_timeout(Duration::from_secs(5));
        if let Some(tls) = &self.tls {
            endpoint = endpoint.tls_config(tls.clone()).map_err(wrong)?;
        }
        Ok((self.change)(endpoint))
    }
}

#[derive(PartialEq)]
enum Health {
    Connecting,
    Serving,
    NotServing,
    Lost(String),
}

struct Server {
    channel: Channel,
    health: Health,
    watch: Option<AbortHandle>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.watch.iter().for_each(AbortHandle::abort);
    }
}

/// All servers of a client: gRPC's round_robin with health checks, which tonic does
/// not have. They are found and connected to when first asked for; names are
/// resolved again when a server is lost.
pub(crate) struct Servers {
    addresses: Vec<Address>,
    opener: Opener,
    watched: bool,
    state: Mutex<(BTreeMap<SocketAddr, Server>, usize)>, // and which is next
    changed: sync::watch::Sender<()>,
    looked_up: sync::Mutex<Option<Instant>>,
}

impl Servers {
    pub(crate) fn new(addresses: Vec<Address>, opener: Opener, watched: bool) -> Arc<Self> {
        let (changed, _) = sync::watch::channel(());
        let (state, looked_up) = (Mutex::default(), sync::Mutex::default());
        Arc::new(Self { addresses, opener, watched, state, changed, looked_up })
    }

    /// The next server that is serving; with `any` one that is not serving, too.
    /// Waits for those that are being connected to; UNAVAILABLE if there are no such
    /// either.
    pub(crate) async fn pick(self: &Arc<Self>, any: bool) -> Result<Channel, Error> {
        let mut changed = self.changed.subscribe();
        if self.state.lock().unwrap().0.is_empty() {
            self.look_up(Duration::MAX).await?;
        }
        loop {
            changed.borrow_and_update();
            if let Some(channel) = self.choose(any)? {
                return Ok(channel);
            }
            // An error would mean that there are no servers any more.
            changed.changed().await.unwrap_or_default();
        }
    }

    /// None: some are being connected to.
    fn choose(&self, any: bool) -> Result<Option<Channel>, Error> {
        let (servers, next) = &mut *self.state.lock().unwrap();
        let good = |server: &&Server| {
            server.health == Health::Serving || (any && server.health == Health::NotServing)
        };
        let serving = servers.values().filter(good).count();
        if serving > 0 {
            *next = next.wrapping_add(1);
            let server = servers.values().filter(good).nth(*next % serving);
            return Ok(server.map(|server| server.channel.clone()));
        }
        if servers.values().any(|server| server.health == Health::Connecting) {
            return Ok(None);
        }
        let texts = servers.iter().map(|(address, server)| match &server.health {
            Health::Lost(why) => format!("{address} is lost: {why}"),
            _ => format!("{address} is not serving"),
        });
        Err(Error::unavailable(texts.collect::<Vec<_>>().join("; ")))
    }

    /// The error of a call. What has a source was not said by a server, which may
    /// have another address now.
    pub(crate) fn failed(self: &Arc<Self>, status: Status) -> Error {
        let error = Error::from(status);
        if error.is_broken() {
            self.look_up_again();
        }
        error
    }

    fn set(self: &Arc<Self>, address: SocketAddr, health: Health) {
        if let Some(server) = self.state.lock().unwrap().0.get_mut(&address) {
            server.health = health;
        }
        self.changed.send_replace(());
    }

    /// Nobody waits for it, since DNS may be slow. Servers stay if it fails.
    fn look_up_again(self: &Arc<Self>) {
        let servers = self.clone();
        tokio::spawn(async move { servers.look_up(MAX_BACKOFF).await });
    }

    /// Resolves the names, unless that was done in this time; several calls at once
    /// share one answer.
    async fn look_up(self: &Arc<Self>, after: Duration) -> Result<(), Error> {
        let mut last = self.looked_up.lock().await;
        if last.is_some_and(|last| last.elapsed() < after) {
            return Ok(());
        }
        let found = self.resolve().await?;
        *last = Some(Instant::now());
        let servers = &mut self.state.lock().unwrap().0;
        servers.retain(|address, _| found.contains(address));
        for address in found {
            if !servers.contains_key(&address) {
                servers.insert(address, self.open(address)?);
            }
        }
        self.changed.send_replace(());
        Ok(())
    }

    /// A name that is not known is left out, unless none is.
    async fn resolve(&self) -> Result<BTreeSet<SocketAddr>, Error> {
        let (mut found, mut unknown) = (BTreeSet::new(), Vec::new());
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
        let channel = self.opener.endpoint(address)?.connect_lazy();
        if !self.watched {
            return Ok(Server { channel, health: Health::Serving, watch: None });
        }
        let task = tokio::spawn(watch(Arc::downgrade(self), address, channel.clone()));
        Ok(Server { channel, health: Health::Connecting, watch: Some(task.abort_handle()) })
    }
}

/// Follows the health of a server, as long as its servers are there.
async fn watch(servers: Weak<Servers>, address: SocketAddr, channel: Channel) {
    let mut backoff = FIRST_BACKOFF;
    loop {
        let ended = contained(follow(servers.clone(), address, channel.clone())).await;
        let Some(owner) = servers.upgrade() else {
            return;
        };
        match ended {
            Ok(()) => {
                backoff = FIRST_BACKOFF;
                owner.set(address, Health::Connecting);
            }
            Err(error) if error.code() == Code::Unimplemented => {
                return owner.set(address, Health::Serving);
            }
            Err(error) => {
                owner.set(address, Health::Lost(error.message().into()));
                owner.look_up_again();
            }
        }
        drop(owner);
        sleep(backoff).await;
        backoff = MAX_BACKOFF.min(backoff.mul_f64(1.6));
    }
}

/// One watch. Ok: it has ended, but the server had answered.
async fn follow(
    servers: Weak<Servers>,
    address: SocketAddr,
    channel: Channel,
) -> Result<(), Error> {
    let request = HealthCheckRequest { service: String::new() };
    let mut answers = HealthClient::new(channel).watch(request).await?.into_inner();
    let mut answered = false;
    loop {
        let serves = match answers.message().await {
            Ok(Some(answer)) => answer.status() == ServingStatus::Serving,
            Err(status) if !answered => return Err(status.into()),
            Ok(None) if !answered => return Err(Error::unavailable("its watch has ended")),
            _ => return Ok(()),
        };
        answered = true;
        if let Some(owner) = servers.upgrade() {
            owner.set(address, if serves { Health::Serving } else { Health::NotServing });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::CallOptions;
    use crate::client::Connection;
    use crate::{Client, Retry};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    const HEADERS: u8 = 1;
    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

    /// The next frame of HTTP/2 that is of this type.
    async fn frame(client: &mut TcpStream, wanted: u8) {
        loop {
            let mut head = [0; 9];
            client.read_exact(&mut head).await.unwrap();
            let size = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            client.read_exact(&mut vec![0; size as usize]).await.unwrap();
            if head[3] == wanted {
                return;
            }
        }
    }

    /// A header that HPACK has not compressed.
    fn header(key: &str, value: &str) -> Vec<u8> {
        let (key_size, value_size) = (key.len() as u8, value.len() as u8);
        [&[0, key_size][..], key.as_bytes(), &[value_size], value.as_bytes()].concat()
    }

    /// Answers the first call with details that are not base64.
    async fn answer_badly(listener: &TcpListener) {
        let (mut client, _) = listener.accept().await.unwrap();
        client.read_exact(&mut [0; 24]).await.unwrap();
        client.write_all(SETTINGS).await.unwrap();
        frame(&mut client, HEADERS).await;
        let mut block = vec![0x88]; // :status: 200
        block.extend(header("content-type", "application/grpc"));
        block.extend(header("grpc-status", "8"));
        block.extend(header("grpc-status-details-bin", "!"));
        let whole = [&[0, 0, block.len() as u8, HEADERS, 5, 0, 0, 0, 1][..], &block].concat();
        client.write_all(&whole).await.unwrap();
        let _ = client.read_to_end(&mut Vec::new()).await;
    }

    #[tokio::test]
    async fn a_watch_outlives_answers_that_cannot_be_read() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let name = format!("http://127.0.0.1:{port}").parse().unwrap();
        let opener = Opener { name, tls: None, change: |endpoint| endpoint };
        let address = Address { host: "127.0.0.1".into(), port };
        let servers = Servers::new(vec![address], opener, true);
        tokio::spawn(async move { answer_badly(&listener).await });
        let error = servers.pick(false).await.unwrap_err();
        assert!(error.message().contains("cannot be read"), "{error}");
    }

    #[test]
    fn brackets() {
        assert_eq!(Address::parse("a:1").unwrap().host, "a");
        let found = Address::parse("[::1]:2").unwrap();
        assert_eq!((found.host.as_str(), found.port), ("::1", 2));
        for bad in ["", "a", ":2", "a:", "a:70000", "http://a:1"] {
            let error = Address::parse(bad).unwrap_err();
            assert!(error.message().ends_with("must be HOST:PORT"), "{bad}");
        }
    }

    /// As if the name had stood for another address.
    async fn moved(servers: &Arc<Servers>) {
        let elsewhere = ([127, 0, 0, 2], 1).into();
        let server = servers.open(elsewhere).unwrap();
        servers.state.lock().unwrap().0 = BTreeMap::from([(elsewhere, server)]);
        *servers.looked_up.lock().await = Instant::now().checked_sub(2 * MAX_BACKOFF);
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
        };
        let client = Client { connection: Arc::new(connection), options: CallOptions::default() };
        client.models().await.unwrap_err();
        changed.changed().await.unwrap();
        let known: Vec<_> = servers.state.lock().unwrap().0.keys().copied().collect();
        assert_eq!(known, [SocketAddr::from(([127, 0, 0, 1], 1))]);
    }
}
