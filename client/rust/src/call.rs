use std::future::{poll_fn, Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{ready, Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use prost::Message;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{timeout_at, Instant};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{AsciiMetadataKey, MetadataMap};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::client::Connection;
use crate::results::{Each, Outcome};
use crate::{trace, Client, Error};

/// What calls are made with.
#[derive(Clone, Default)]
pub(crate) struct CallOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) metadata: Vec<(String, String)>,
}

impl CallOptions {
    fn to_metadata(&self) -> Result<MetadataMap, Error> {
        let mut metadata = MetadataMap::new();
        for (key, value) in &self.metadata {
            add(&mut metadata, key, value)?;
        }
        if !metadata.contains_key("traceparent") {
            for (key, value) in trace::current() {
                add(&mut metadata, key, &value)?;
            }
        }
        Ok(metadata)
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

/// A call before its first attempt.
struct Prepared<Q> {
    connection: Arc<Connection>,
    path: &'static str,
    end: Option<Instant>,
    request: Q,
    metadata: MetadataMap,
}

impl<Q: Message + Clone + 'static> Prepared<Q> {
    /// Makes an attempt, up to the first message; later failures are not retried. The
    /// server is told how many attempts there were before.
    async fn attempt<A>(self: Arc<Self>, before: usize) -> Result<(Option<A>, Streaming<A>), Error>
    where
        A: Message + Default + 'static,
    {
        let servers = &self.connection.servers;
        // A server that does not serve may wait for its first model.
        let admin = self.path.starts_with("/attend.v1.Admin/");
        let mut server =
            Grpc::new(servers.pick(admin).await?).max_decoding_message_size(usize::MAX);
        let failed = |status: Status| servers.failed(status);
        server.ready().await.map_err(|error| failed(Status::from_error(error.into())))?;
        let mut request = Request::new(self.request.clone());
        *request.metadata_mut() = self.metadata.clone();
        if before > 0 {
            request.metadata_mut().insert("grpc-previous-rpc-attempts", before.into());
        }
        if let Some(end) = self.end {
            request.set_timeout(end.saturating_duration_since(Instant::now()));
        }
        let path = PathAndQuery::from_static(self.path);
        let answers = server.server_streaming(request, path, ProstCodec::<Q, A>::default());
        let mut answers = answers.await.map_err(failed)?.into_inner();
        Ok((answers.message().await.map_err(failed)?, answers))
    }
}

/// The messages of a call that has begun.
struct Answers<A> {
    first: Option<A>,
    rest: Streaming<A>,
    end: Option<Instant>,
}

impl<A> Answers<A> {
    async fn next(&mut self) -> Result<Option<A>, Error> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => in_time(self.end, async { Ok(self.rest.message().await?) }).await,
        }
    }
}

/// Fails with DEADLINE_EXCEEDED if the end comes first, whichever timer sees it.
async fn in_time<T>(
    end: Option<Instant>,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let done = match end {
        Some(end) => timeout_at(end, work).await.unwrap_or_else(|_| Err(Error::deadline())),
        None => work.await,
    };
    done.map_err(|error| {
        let over = end.is_some_and(|end| Instant::now() >= end);
        // tonic's own timer says so.
        if over || error.message() == "Timeout expired" {
            return Error::deadline();
        }
        error
    })
}

/// A call that `.await` makes, or [`StreamedCall::start`]. Dropping its future or its
/// stream cancels it.
#[must_use = "a call is made when it is awaited, or started"]
pub struct Call<Q, A, R> {
    client: Client,
    path: &'static str,
    request: Q,
    read: fn(A) -> R,
    /// Sets what the caller must not change.
    finish: fn(&mut Q),
    /// If the answer comes in pieces: adds one to those before.
    join: fn(&mut A, A),
    /// How long the server takes at least. The timeout begins after that time.
    takes: Duration,
}

impl<Q, A, R> Call<Q, A, R>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    pub(crate) fn new(client: &Client, path: &'static str, request: Q, read: fn(A) -> R) -> Self {
        let (client, takes) = (client.clone(), Duration::ZERO);
        Self { client, path, request, read, finish: |_| {}, join: |all, one| *all = one, takes }
    }

    pub(crate) fn finish(self, finish: fn(&mut Q)) -> Self {
        Self { finish, ..self }
    }

    pub(crate) fn in_pieces(self, join: fn(&mut A, A), takes: Duration) -> Self {
        Self { join, takes, ..self }
    }

    /// Sets fields of the request.
    pub fn with(mut self, change: impl FnOnce(&mut Q)) -> Self {
        change(&mut self.request);
        self
    }

    /// Of all attempts together. None: no limit.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.client.options.timeout = timeout.into();
        self
    }

    /// Is sent with the call: `x-request-id`, for example.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.client.options.metadata.push((key.into(), value.into()));
        self
    }

    async fn begin(&mut self) -> Result<Answers<A>, Error> {
        (self.finish)(&mut self.request);
        let timeout = self.client.options.timeout.map(|timeout| timeout.saturating_add(self.takes));
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let call = Arc::new(Prepared {
            connection: self.client.connection.clone(),
            path: self.path,
            end,
            request: self.request.clone(),
            metadata: self.client.options.to_metadata()?,
        });
        let retry = call.connection.retry;
        let begun = retry.attempts(end, |before| call.clone().attempt::<A>(before));
        let (first, rest) = in_time(end, begun).await?;
        Ok(Answers { first, rest, end })
    }

    async fn answer(mut self) -> Result<R, Error> {
        let mut answers = self.begin().await?;
        let none = || Error::new(Code::Internal, "the server sent no answer");
        let mut all = answers.next().await?.ok_or_else(none)?;
        while let Some(more) = answers.next().await? {
            (self.join)(&mut all, more);
        }
        Ok((self.read)(all))
    }
}

impl<Q, A, T> Call<Q, A, Each<T>>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    /// A result or an error of each input; `.await` alone returns the first error.
    pub async fn each(self) -> Result<Vec<Result<T, Error>>, Error> {
        Ok(self.answer().await?.0)
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
        Box::pin(async move { self.answer().await?.value() })
    }
}

/// A call whose answer is a stream of text.
pub type StreamedCall<Q, A> = Call<Q, A, Part>;

/// A part of a text.
pub struct Part(pub(crate) Result<String, Error>);

impl<Q, A> StreamedCall<Q, A>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    /// Makes the call, in a task of tokio's. Dropping the stream cancels it.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
    pub fn start(self) -> TextStream {
        let (sender, events) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            let ended = self.send(&sender).await;
            let _ = sender.send(ended.map(|()| None)).await;
        });
        TextStream { events, over: false, task }
    }

    async fn send(mut self, parts: &mpsc::Sender<Event>) -> Result<(), Error> {
        let mut answers = self.begin().await?;
        while let Some(chunk) = answers.next().await? {
            let part = (self.read)(chunk).0?;
            if !part.is_empty() && parts.send(Ok(Some(part))).await.is_err() {
                break; // nobody reads it
            }
        }
        Ok(())
    }
}

/// A part of the text; None: its end.
type Event = Result<Option<String>, Error>;

/// The parts of a text, as they are computed. Dropping it cancels the call.
pub struct TextStream {
    events: mpsc::Receiver<Event>,
    over: bool,
    task: JoinHandle<()>,
}

impl TextStream {
    /// The next part. None: the text has ended.
    pub async fn next(&mut self) -> Option<Result<String, Error>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for TextStream {
    type Item = Result<String, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.over {
            return Poll::Ready(None);
        }
        let event = ready!(self.events.poll_recv(context));
        // The task ends without a word if tokio does, or panics.
        let event = event.unwrap_or_else(|| Err(Error::unavailable("the task has ended")));
        self.over = !matches!(event, Ok(Some(_)));
        Poll::Ready(event.transpose())
    }
}

impl Drop for TextStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client() -> Client {
        Client::builder("a:1").build().unwrap()
    }

    #[test]
    fn errors_do_not_show_values() {
        for (key, part) in [("a key", "a key of HTTP/2"), ("x", "printable ASCII")] {
            let call = client().models().metadata(key, "se\ncret");
            let error = call.client.options.to_metadata().unwrap_err();
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
        let metadata = client().models().client.options.to_metadata().unwrap();
        assert_eq!(metadata.get("tracestate").unwrap(), "a=b");
        let own = client().models().metadata("traceparent", "own");
        let metadata = own.client.options.to_metadata().unwrap();
        assert_eq!(metadata.get("traceparent").unwrap(), "own");
        assert!(!metadata.contains_key("tracestate"));
    }
}
