use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tonic::transport::{Endpoint, Uri};

use crate::call::CallOptions;
use crate::client::Connection;
use crate::servers::{Address, Opener, Servers};
use crate::{Client, Error, Retry, Tls};

/// The options of a client. `ATTEND_ADDRESS`, `ATTEND_TLS`, `ATTEND_CA`,
/// `ATTEND_CERT`, `ATTEND_KEY`, `ATTEND_SERVER_NAME` and `ATTEND_TOKEN` are read for
/// what they do not say.
pub struct ClientBuilder {
    target: String,
    model: String,
    token: String,
    tls: Option<Tls>,
    retry: Retry,
    health_checks: bool,
    options: CallOptions,
    change: fn(Endpoint) -> Endpoint,
}

impl ClientBuilder {
    pub(crate) fn new(target: String) -> Self {
        Self {
            target,
            model: String::new(),
            token: String::new(),
            tls: None,
            retry: Retry::default(),
            health_checks: true,
            options: CallOptions { timeout: Some(Duration::from_secs(60)), metadata: Vec::new() },
            change: |endpoint| endpoint,
        }
    }

    /// The model of calls that do not say. Default: the server's default model.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = name.into();
        self
    }

    /// Sends `authorization: Bearer TOKEN` with each call.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = token.into();
        self
    }

    /// Connects by TLS.
    pub fn tls(mut self, files: Tls) -> Self {
        self.tls = Some(files);
        self
    }

    /// Of a call, all attempts together. Default: a minute. None: no limit.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.timeout = timeout.into();
        self
    }

    /// Replaces `Retry::default()`.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Watches the health of each server. Not behind a proxy that balances calls:
    /// the health of one server would speak for all. Default: true.
    pub fn health_checks(mut self, yes: bool) -> Self {
        self.health_checks = yes;
        self
    }

    /// Is sent with each call.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.metadata.push((key.into(), value.into()));
        self
    }

    /// More options of tonic's channels.
    pub fn endpoint(mut self, change: fn(Endpoint) -> Endpoint) -> Self {
        self.change = change;
        self
    }

    /// Makes the client, which connects when it is first used.
    pub fn build(mut self) -> Result<Client, Error> {
        let token = or(self.token, "TOKEN");
        if !token.chars().all(|letter| letter.is_ascii_graphic()) {
            return Err(Error::invalid(
                "the token has a character that is not printable ASCII, or a space",
            ));
        }
        if !token.is_empty() {
            let bearer = format!("Bearer {token}");
            self.options.metadata.push(("authorization".into(), bearer));
        }
        let target = or(self.target, "ADDRESS");
        let target = if target.is_empty() { "localhost:50051" } else { &target };
        let addresses = target.split(',').map(|each| Address::parse(each.trim()));
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        let opener = opener(&addresses[0], tls(self.tls)?, self.change)?;
        let servers = Servers::new(addresses, opener, self.health_checks);
        let connection = Connection { servers, model: self.model, retry: self.retry };
        Ok(Client { connection: Arc::new(connection), options: self.options })
    }
}

/// All servers go by the name of the first.
fn opener(
    first: &Address,
    tls: Option<Tls>,
    change: fn(Endpoint) -> Endpoint,
) -> Result<Opener, Error> {
    let Address { host, port } = first;
    let scheme = tls.as_ref().map_or("http", |_| "https");
    let bracketed = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let name: Uri = format!("{scheme}://{bracketed}:{port}")
        .parse()
        .map_err(|error| Error::invalid(format!("address '{host}:{port}': {error}")))?;
    let tls = tls.map(|files| files.config(host)).transpose()?;
    let opener = Opener { name, tls, change };
    // Certificates are read here, not at the first call.
    opener.endpoint(([127, 0, 0, 1], *port).into())?;
    Ok(opener)
}

/// With variables for what is not given. None: no TLS.
fn tls(given: Option<Tls>) -> Result<Option<Tls>, Error> {
    let wanted = given.is_some() || yes(&variable("TLS"))?;
    let given = given.unwrap_or_default();
    let path = |file: Option<PathBuf>, name| {
        let found = variable(name);
        file.or_else(|| (!found.is_empty()).then(|| found.into()))
    };
    let name = or(given.server_name.unwrap_or_default(), "SERVER_NAME");
    let found = Tls {
        ca: path(given.ca, "CA"),
        cert: path(given.cert, "CERT"),
        key: path(given.key, "KEY"),
        server_name: (!name.is_empty()).then_some(name),
    };
    Ok((wanted || found != Tls::default()).then_some(found))
}

fn yes(text: &str) -> Result<bool, Error> {
    match text.to_lowercase().as_str() {
        "1" | "true" | "on" | "yes" => Ok(true),
        "" | "0" | "false" | "off" | "no" => Ok(false),
        _ => Err(Error::invalid(format!("ATTEND_TLS is '{text}', must be true or false"))),
    }
}

fn variable(name: &str) -> String {
    env::var(format!("ATTEND_{name}")).unwrap_or_default()
}

/// A value, or that of a variable of the environment if it is empty.
fn or(value: String, name: &str) -> String {
    if value.is_empty() {
        variable(name)
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(target: &str, change: fn(ClientBuilder) -> ClientBuilder) -> String {
        let built = change(ClientBuilder::new(target.into())).build();
        built.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_cannot_be() {
        let tls = |files| ClientBuilder::new("a:1".into()).tls(files).build().err();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let error = tls(Tls { ca: Some(file.into()), ..Tls::default() });
        assert!(error.unwrap().message().contains("no certificate in PEM"));
        let error = tls(Tls { cert: Some(file.into()), ..Tls::default() });
        assert!(error.unwrap().message().contains("given together"));
        let error = tls(Tls { ca: Some("/no/where".into()), ..Tls::default() });
        assert!(error.unwrap().message().starts_with("/no/where: "));
        assert!(refused("a:1,b", |b| b).contains("address 'b' must be"));
        assert!(refused("a:1", |b| b.token("ä")).contains("printable ASCII"));
        assert!(yes("maybe").unwrap_err().message().contains("'maybe'"));
    }
}
