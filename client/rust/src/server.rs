use std::net::SocketAddr;
use std::sync::Weak;
use std::time::Duration;

use tokio::time::sleep;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint, Uri};
use tonic::{Code, Status};

use crate::health::health_check_response::ServingStatus;
use crate::health::health_client::HealthClient;
use crate::health::HealthCheckRequest;
use crate::servers::Servers;
use crate::Error;

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MOST_BACKOFF: Duration = Duration::from_secs(5);

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

/// Follows the health of a server, as long as its servers are there.
pub(crate) async fn watch(servers: Weak<Servers>, address: SocketAddr, channel: Channel) {
    let mut client = HealthClient::new(channel);
    let mut backoff = FIRST_BACKOFF;
    loop {
        let ended = follow(&servers, address, &mut client, &mut backoff).await;
        let Some(owner) = servers.upgrade() else {
            return;
        };
        if ended.code() == Code::Unimplemented {
            owner.set(address, Health::Serving);
            return;
        }
        owner.set(address, Health::Lost(describe(&ended)));
        owner.look_up_again().await;
        drop(owner);
        sleep(backoff).await;
        backoff = MOST_BACKOFF.min(backoff.mul_f64(1.6));
    }
}

/// Until it ends, and why it did.
async fn follow(
    servers: &Weak<Servers>,
    address: SocketAddr,
    client: &mut HealthClient<Channel>,
    backoff: &mut Duration,
) -> Status {
    let request = HealthCheckRequest { service: String::new() };
    let mut answers = match client.watch(request).await {
        Ok(answers) => answers.into_inner(),
        Err(status) => return status,
    };
    loop {
        let answer = match answers.message().await {
            Ok(Some(answer)) => answer,
            Ok(None) => return Status::unavailable("its watch of the health has ended"),
            Err(status) => return status,
        };
        *backoff = FIRST_BACKOFF;
        let serves = answer.status() == ServingStatus::Serving;
        let health = if serves { Health::Serving } else { Health::NotServing };
        match servers.upgrade() {
            Some(owner) => owner.set(address, health),
            None => return Status::cancelled("the client is gone"),
        }
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
