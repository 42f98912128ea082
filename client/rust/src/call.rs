use std::error::Error as _;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use tokio::time::Instant;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{AsciiMetadataKey, MetadataMap};
use tonic::transport::Channel;
use tonic::{Request, Status};

use crate::connection::Connection;
use crate::hedging::Hedging;
use crate::results::{Each, Outcome};
use crate::stream::TextStream;
use crate::unary::unary;
use crate::v1::GetModelRequest;
use crate::{affinity, trace, Error};

/// What calls are made with.
#[derive(Clone, Default)]
pub(crate) struct CallOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) metadata: Vec<(String, String)>,
}

/// A call before its first attempt.
pub(crate) struct Prepared<Q> {
    pub(crate) connection: Arc<Connection>,
    pub(crate) path: PathAndQuery,
    pub(crate) end: Option<Instant>,
    pub(crate) hedging: Option<Hedging>,
    pub(crate) request: Q,
    metadata: MetadataMap,
    affinity: Option<String>,
}

impl<Q: Clone> Prepared<Q> {
    /// Of an attempt. While others run it has another key: of N servers, one in N
    /// goes to the same.
    pub(crate) fn key(&self, others_run: bool) -> Option<String> {
        let key = self.affinity.as_ref()?;
        Some(if others_run { format!("{key}-2") } else { key.clone() })
    }

    /// Of an attempt with that key, which says how many there were before.
    pub(crate) fn request(&self, sent: Q, before: usize, key: Option<&str>) -> Request<Q> {
        let mut request = Request::new(sent);
        *request.metadata_mut() = self.metadata.clone();
        if before > 0 {
            request.metadata_mut().insert("grpc-previous-rpc-attempts", before.into());
        }
        if let Some(key) = key {
            let value = key.parse().expect("it is of digits and letters");
            request.metadata_mut().insert(affinity::HEADER, value);
        }
        if let Some(end) = self.end {
            request.set_timeout(end.saturating_duration_since(Instant::now()));
        }
        request
    }

    /// A question about a model, in the time of this call.
    pub(crate) fn about_model(&self, name: String) -> Prepared<GetModelRequest> {
        Prepared {
            connection: self.connection.clone(),
            path: PathAndQuery::from_static("/attend.v1.Attend/GetModel"),
            end: self.end,
            hedging: None,
            request: GetModelRequest { name },
            metadata: self.metadata.clone(),
            affinity: None,
        }
    }

    /// Others change a server, which may wait for its first model and not serve.
    fn is_of_attend(&self) -> bool {
        self.path.path().starts_with("/attend.v1.Attend/")
    }

    /// The next server, or that of the key.
    pub(crate) async fn server(&self, key: Option<&str>) -> Result<Grpc<Channel>, Error> {
        let channel = self.connection.servers.pick(key, !self.is_of_attend()).await?;
        let mut server = Grpc::new(channel).max_decoding_message_size(usize::MAX);
        let ready = server.ready().await;
        ready.map_err(|error| self.failed(Status::from_error(error.into())))?;
        Ok(server)
    }

    /// The error of an attempt. What has a source was not said by a server, which
    /// may have another address now.
    pub(crate) fn failed(&self, status: Status) -> Error {
        if status.source().is_some() {
            self.connection.servers.look_up_again();
        }
        status.into()
    }
}

struct Parts<Q> {
    connection: Arc<Connection>,
    path: &'static str,
    request: Q,
    options: CallOptions,
    /// Sets what the caller must not change, or may have left open.
    finish: fn(&mut Q),
    /// How long the server takes at least. The timeout begins after that time.
    takes: Duration,
}

impl<Q: 'static> Parts<Q> {
    fn new(
        connection: &Arc<Connection>,
        options: &CallOptions,
        path: &'static str,
        request: Q,
    ) -> Self {
        Self {
            connection: connection.clone(),
            path,
            request,
            options: options.clone(),
            finish: |_| {},
            takes: Duration::ZERO,
        }
    }

    fn prepare(mut self) -> Result<Prepared<Q>, Error> {
        (self.finish)(&mut self.request);
        let mut metadata = MetadataMap::new();
        for (key, value) in &self.options.metadata {
            add(&mut metadata, key, value)?;
        }
        if !metadata.contains_key("traceparent") {
            for (key, value) in trace::current() {
                add(&mut metadata, key, &value)?;
            }
        }
        // What changes the server is not asked for twice.
        let hedged = self.path.starts_with("/attend.v1.Attend/");
        let timeout = self.options.timeout.map(|timeout| timeout.saturating_add(self.takes));
        Ok(Prepared {
            hedging: self.connection.hedging.filter(|_| hedged),
            affinity: affinity::key(&self.request, self.connection.affinity),
            connection: self.connection,
            path: PathAndQuery::from_static(self.path),
            end: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            request: self.request,
            metadata,
        })
    }
}

fn add(metadata: &mut MetadataMap, key: &str, value: &str) -> Result<(), Error> {
    // The value may be secret.
    let wrong = |what| Error::invalid(format!("metadata '{key}' {what}"));
    let name = AsciiMetadataKey::from_bytes(key.as_bytes())
        .map_err(|_| wrong("must have a key of HTTP/2 that does not end with -bin"))?;
    let value = value.parse().map_err(|_| wrong("must have a value of printable ASCII"))?;
    metadata.append(name, value);
    Ok(())
}

macro_rules! options_of_calls {
    () => {
        /// Sets fields of the request.
        pub fn with(mut self, change: impl FnOnce(&mut Q)) -> Self {
            change(&mut self.parts.request);
            self
        }

        /// Of all attempts together. None: no limit.
        pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
            self.parts.options.timeout = timeout.into();
            self
        }

        /// Is sent with the call: `x-request-id`, for example.
        pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
            self.parts.options.metadata.push((key.into(), value.into()));
            self
        }
    };
}

/// A call that `.await` makes. Dropping its future cancels it.
#[must_use = "a call is made when it is awaited"]
pub struct Call<Q, A, R> {
    parts: Parts<Q>,
    /// If the answer comes in pieces: adds one to those before.
    join: Option<Join<A>>,
    read: fn(A) -> R,
}

pub(crate) type Join<A> = fn(&mut A, A);

impl<Q: 'static, A, R> Call<Q, A, R> {
    pub(crate) fn new(
        connection: &Arc<Connection>,
        options: &CallOptions,
        path: &'static str,
        request: Q,
        read: fn(A) -> R,
    ) -> Self {
        let parts = Parts::new(connection, options, path, request);
        Self { parts, join: None, read }
    }

    pub(crate) fn finish(mut self, finish: fn(&mut Q)) -> Self {
        self.parts.finish = finish;
        self
    }

    pub(crate) fn in_pieces(mut self, join: Join<A>, takes: Duration) -> Self {
        self.join = Some(join);
        self.parts.takes = takes;
        self
    }

    options_of_calls!();
}

impl<Q, A, T> Call<Q, A, Each<T>>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    /// A result or an error of each input; `.await` alone returns the first error.
    pub async fn each(self) -> Result<Vec<Result<T, Error>>, Error> {
        let answer = unary(self.parts.prepare()?, self.join).await?;
        Ok((self.read)(answer).0)
    }
}

impl<Q, A, R> IntoFuture for Call<Q, A, R>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
    R: Outcome + 'static,
{
    type Output = Result<R::Value, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { parts, join, read } = self;
        Box::pin(async move { read(unary(parts.prepare()?, join).await?).value() })
    }
}

/// A call whose answer is a stream of text.
#[must_use = "a call is made when it is started"]
pub struct StreamedCall<Q, A> {
    parts: Parts<Q>,
    read: fn(A) -> Result<String, Error>,
}

impl<Q, A> StreamedCall<Q, A>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    pub(crate) fn new(
        connection: &Arc<Connection>,
        options: &CallOptions,
        path: &'static str,
        request: Q,
        read: fn(A) -> Result<String, Error>,
    ) -> Self {
        let parts = Parts::new(connection, options, path, request);
        Self { parts, read }
    }

    pub(crate) fn finish(mut self, finish: fn(&mut Q)) -> Self {
        self.parts.finish = finish;
        self
    }

    options_of_calls!();

    /// Makes the call, in a task of tokio's. Dropping the stream cancels it.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
    pub fn start(self) -> TextStream {
        TextStream::new(self.parts.prepare(), self.read)
    }
}

/// The error of a call whose deadline has passed, whoever has seen that first.
pub(crate) fn or_deadline<Q>(call: &Prepared<Q>, error: Error) -> Error {
    let over = call.end.is_some_and(|end| Instant::now() >= end);
    // tonic's own timer says so.
    if over || error.message() == "Timeout expired" {
        return Error::deadline();
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Client;

    fn client() -> Client {
        let hedging = Hedging::after(Duration::from_millis(1));
        Client::builder("a:1").hedging(hedging).build().unwrap()
    }

    #[test]
    fn changes_are_not_hedged() {
        let client = client();
        assert!(client.models().parts.prepare().unwrap().hedging.is_some());
        assert!(client.load_model("a").parts.prepare().unwrap().hedging.is_none());
        assert!(client.unload_model("a").parts.prepare().unwrap().hedging.is_none());
        let profile = client.profile(Duration::from_secs(1));
        assert!(profile.parts.prepare().unwrap().hedging.is_none());
        let alias = client.set_alias("a", [("b", 1)]);
        assert!(alias.parts.prepare().unwrap().hedging.is_none());
    }

    #[test]
    fn errors_do_not_show_values() {
        for (key, part) in [("a key", "a key of HTTP/2"), ("x", "printable ASCII")] {
            let call = client().models().metadata(key, "se\ncret");
            let error = call.parts.prepare().err().unwrap();
            assert!(error.message().contains(part), "{error}");
            assert!(!error.message().contains("cret"), "{error}");
        }
    }

    #[cfg(feature = "opentelemetry")]
    #[test]
    fn a_parent_of_the_caller_stands_alone() {
        use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags};
        use opentelemetry::trace::{TraceId, TraceState};
        let state = TraceState::from_key_value([("a", "b")]).unwrap();
        let (trace, span) = (TraceId::from(3u128), SpanId::from(4u64));
        let span = SpanContext::new(trace, span, TraceFlags::SAMPLED, true, state);
        let context = opentelemetry::Context::new().with_remote_span_context(span);
        let _attached = context.attach();
        let metadata = client().models().parts.prepare().unwrap().metadata;
        assert_eq!(metadata.get("tracestate").unwrap(), "a=b");
        let own = client().models().metadata("traceparent", "own");
        let metadata = own.parts.prepare().unwrap().metadata;
        assert_eq!(metadata.get("traceparent").unwrap(), "own");
        assert!(!metadata.contains_key("tracestate"));
    }
}
