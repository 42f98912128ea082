use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::Weak;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, sleep_until, Instant};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint, Uri};
use tonic::{Code, Status};

use crate::health::health_check_response::ServingStatus;
use crate::health::health_client::HealthClient;
use crate::health::HealthCheckRequest;
use crate::servers::Servers;
use crate::unary::broken;
use crate::Error;

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MOST_BACKOFF: Duration = Duration::from_secs(5);
/// Names of servers that are not watched are resolved again.
const LOOK_UP_EVERY: Duration = Duration::from_secs(30);

/// What is known of a server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Health {
    Connecting,
    Serving,
    NotServing,
    Lost(String),
}

/// Makes channels to servers, all of which go by one name.
pub(crate) struct Opener {
    pub(crate) name: Uri,
    pub(crate) tls: Option<ClientTlsConfig>,
    pub(crate) change: fn(Endpoint) -> Endpoint,
}

impl Opener {
    /// Of the server, which is connected to when it is first called.
    pub(crate) fn open(&self, address: SocketAddr) -> Result<Channel, Error> {
        Ok(self.endpoint(address)?.connect_lazy())
    }

    pub(crate) fn endpoint(&self, address: SocketAddr) -> Result<Endpoint, Error> {
        let scheme = self.tls.as_ref().map_or("http", |_| "https");
        let wrong = |error: tonic::transport::Error| Error::invalid(describe(&error));
        // A server that does not answer a ping is given up, and its calls are made
        // again elsewhere. A server takes a ping in 10 s (--min-ping-interval).
        let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))
            .map_err(wrong)?
            .origin(self.name.clone())
            .connect_timeout(Duration::from_secs(20))
            .http2_keep_alive_interval(Duration::from_secs(12))
            .keep_alive_timeout(Duration::from_secs(5));
        let endpoint = match &self.tls {
            Some(tls) => endpoint.tls_config(tls.clone()).map_err(wrong)?,
            None => endpoint,
        };
        Ok((self.change)(endpoint))
    }
}

/// How a watch of a server's health has ended.
struct Ended {
    /// Whether the server had said how it is.
    answered: bool,
    status: Status,
}

impl Ended {
    fn broken(error: JoinError) -> Self {
        Self { answered: false, status: Status::internal(broken(error).message()) }
    }

    /// The server has ended it, and is still there. What has a source was not said
    /// by a server.
    fn in_order(&self) -> bool {
        self.answered && self.status.source().is_none()
    }
}

/// Follows the health of a server, as long as its servers are there.
pub(crate) async fn watch(servers: Weak<Servers>, address: SocketAddr, channel: Channel) {
    let mut backoff = FIRST_BACKOFF;
    loop {
        let begun = Instant::now();
        // A task of its own, since tonic may panic; a set, which cancels it.
        let mut running = JoinSet::new();
        running.spawn(follow(servers.clone(), address, channel.clone()));
        let ended = running.join_next().await.expect("there is one");
        let ended = ended.unwrap_or_else(Ended::broken);
        let Some(owner) = servers.upgrade() else {
            return;
        };
        if ended.status.code() == Code::Unimplemented {
            owner.set(address, Health::Serving);
            drop(owner);
            return look_up_at_times(servers).await;
        }
        if ended.answered {
            backoff = FIRST_BACKOFF;
        }
        if ended.in_order() {
            owner.set(address, Health::Connecting);
            drop(owner);
            // At once, unless the server ends each watch at once, too.
            sleep_until(begun + FIRST_BACKOFF).await;
            continue;
        }
        owner.set(address, Health::Lost(describe(&ended.status)));
        owner.look_up_again();
        drop(owner);
        sleep(backoff).await;
        backoff = MOST_BACKOFF.min(backoff.mul_f64(1.6));
    }
}

/// In place of a watch: nobody would say that the server is lost.
pub(crate) async fn look_up_at_times(servers: Weak<Servers>) {
    loop {
        sleep(LOOK_UP_EVERY).await;
        match servers.upgrade() {
            Some(owner) => owner.look_up_again(),
            None => return,
        }
    }
}

async fn follow(servers: Weak<Servers>, address: SocketAddr, channel: Channel) -> Ended {
    let request = HealthCheckRequest { service: String::new() };
    let mut answers = match HealthClient::new(channel).watch(request).await {
        Ok(answers) => answers.into_inner(),
        Err(status) => return Ended { answered: false, status },
    };
    let mut answered = false;
    loop {
        let status = match answers.message().await {
            Ok(Some(answer)) => {
                answered = true;
                let serves = answer.status() == ServingStatus::Serving;
                let health = if serves { Health::Serving } else { Health::NotServing };
                match servers.upgrade() {
                    Some(owner) => {
                        owner.set(address, health);
                        continue;
                    }
                    None => Status::cancelled("the client is gone"),
                }
            }
            Ok(None) => Status::unavailable("its watch of the health has ended"),
            Err(status) => status,
        };
        return Ended { answered, status };
    }
}

/// An error and what it came from, innermost last.
fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Address;
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
        let error = servers.pick(None, false).await.unwrap_err();
        assert!(error.message().contains("cannot be read"), "{error}");
    }
}
