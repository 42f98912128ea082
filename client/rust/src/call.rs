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
use crate::results::{Each, Outcome};
use crate::stream::TextStream;
use crate::unary::unary;
use crate::{trace, Error};

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
    request: Q,
    metadata: MetadataMap,
}

impl<Q: Clone> Prepared<Q> {
    /// Of the next attempt.
    pub(crate) fn request(&self) -> Request<Q> {
        let mut request = Request::new(self.request.clone());
        *request.metadata_mut() = self.metadata.clone();
        if let Some(end) = self.end {
            request.set_timeout(end.saturating_duration_since(Instant::now()));
        }
        request
    }

    /// The next server.
    pub(crate) async fn server(&self) -> Result<Grpc<Channel>, Error> {
        let channel = self.connection.servers.pick().await?;
        let mut server = Grpc::new(channel).max_decoding_message_size(usize::MAX);
        let ready = server.ready().await;
        ready.map_err(|error| Status::from_error(error.into()))?;
        Ok(server)
    }
}

struct Parts<Q> {
    connection: Arc<Connection>,
    path: &'static str,
    request: Q,
    options: CallOptions,
    /// Sets what the caller must not change, or may have left open.
    finish: fn(&mut Q),
}

impl<Q> Parts<Q> {
    fn prepare(mut self) -> Result<Prepared<Q>, Error> {
        (self.finish)(&mut self.request);
        let mut metadata = MetadataMap::new();
        for (key, value) in &self.options.metadata {
            add(&mut metadata, key, value)?;
        }
        for (key, value) in trace::current() {
            if !metadata.contains_key("traceparent") || key == "tracestate" {
                add(&mut metadata, key, &value)?;
            }
        }
        Ok(Prepared {
            connection: self.connection,
            path: PathAndQuery::from_static(self.path),
            end: self.options.timeout.and_then(|t| Instant::now().checked_add(t)),
            request: self.request,
            metadata,
        })
    }
}

fn add(metadata: &mut MetadataMap, key: &str, value: &str) -> Result<(), Error> {
    let wrong = || Error::invalid(format!("metadata '{key}' cannot be '{value}'"));
    let name = AsciiMetadataKey::from_bytes(key.as_bytes()).map_err(|_| wrong())?;
    metadata.append(name, value.parse().map_err(|_| wrong())?);
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

        /// Is sent with the call, as `x-request-id`.
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
    read: fn(A) -> R,
}

impl<Q, A, R> Call<Q, A, R> {
    pub(crate) fn new(
        connection: &Arc<Connection>,
        options: &CallOptions,
        path: &'static str,
        request: Q,
        read: fn(A) -> R,
    ) -> Self {
        let parts = Parts {
            connection: connection.clone(),
            path,
            request,
            options: options.clone(),
            finish: |_| {},
        };
        Self { parts, read }
    }

    pub(crate) fn finish(mut self, finish: fn(&mut Q)) -> Self {
        self.parts.finish = finish;
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
        let answer = unary(self.parts.prepare()?).await?;
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
        let Self { parts, read } = self;
        Box::pin(async move { read(unary(parts.prepare()?).await?).value() })
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
        let parts = Parts {
            connection: connection.clone(),
            path,
            request,
            options: options.clone(),
            finish: |_| {},
        };
        Self { parts, read }
    }

    pub(crate) fn finish(mut self, finish: fn(&mut Q)) -> Self {
        self.parts.finish = finish;
        self
    }

    options_of_calls!();

    /// Makes the call, in a task of tokio's. Dropping the stream cancels it.
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
