use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{ready, Context, Poll};

use futures_core::Stream;
use prost::Message;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep_until, timeout_at};
use tonic_prost::ProstCodec;

use crate::call::{or_deadline, Prepared};
use crate::replay::Replay;
use crate::unary::{broken, unary};
use crate::Error;

/// A part of the text; None: its end.
type Event = Result<Option<String>, Error>;
type Read<A> = fn(A) -> Result<String, Error>;

/// The parts of a text, as they are computed. A stream that breaks off is made
/// again, and goes on where it ended. Dropping it cancels the call.
pub struct TextStream {
    events: mpsc::Receiver<Event>,
    over: bool,
    task: Option<JoinHandle<()>>,
}

impl TextStream {
    pub(crate) fn new<Q, A>(call: Result<Prepared<Q>, Error>, read: Read<A>) -> Self
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let (sender, events) = mpsc::channel(1);
        let task = match call {
            Ok(call) => Some(tokio::spawn(run(call, read, sender))),
            Err(error) => {
                sender.try_send(Err(error)).expect("there is room for one");
                None
            }
        };
        Self { events, over: false, task }
    }

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
        // The task ends without a word if tokio does.
        let event = event.unwrap_or_else(|| Err(Error::unavailable("tokio has ended")));
        self.over = !matches!(event, Ok(Some(_)));
        Poll::Ready(event.transpose())
    }
}

impl Drop for TextStream {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn run<Q, A>(call: Prepared<Q>, read: Read<A>, sender: mpsc::Sender<Event>)
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    let call = Arc::new(call);
    let text = Arc::new(tokio::sync::Mutex::new(Replay::default()));
    let all = attempts(call.clone(), read, text, sender.clone());
    let ended = match call.end {
        Some(end) => timeout_at(end, all).await.unwrap_or_else(|_| Err(Error::deadline())),
        None => all.await,
    };
    let ended = ended.map_err(|error| or_deadline(&call, error));
    // Nobody may be there to hear of it.
    let _ = sender.send(ended.map(|()| None)).await;
}

async fn attempts<Q, A>(
    call: Arc<Prepared<Q>>,
    read: Read<A>,
    text: Arc<tokio::sync::Mutex<Replay>>,
    sender: mpsc::Sender<Event>,
) -> Result<(), Error>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    let retry = call.connection.retry;
    let mut sent = call.request.clone();
    let mut in_vain = 0; // attempts since something new came, that one included
    for before in 0.. {
        // A task of its own, since tonic may panic; a set, which cancels it.
        let mut running = JoinSet::new();
        running.spawn(attempt(call.clone(), sent, before, read, text.clone(), sender.clone()));
        let ended = running.join_next().await.expect("there is one");
        let Err(error) = ended.unwrap_or_else(|error| Err(broken(error))) else {
            break;
        };
        let mut text = text.lock().await;
        in_vain = if text.went_on() { 1 } else { in_vain + 1 };
        match retry.next(&error, in_vain, call.end) {
            Some(next) if !text.begun() || retry.resume => sleep_until(next).await,
            _ => return Err(error),
        }
        let model = match text.asks_for(&call.request) {
            Some(name) => unary(call.about_model(name), None).await.ok(),
            None => None,
        };
        sent = text.again(&call.request, model);
    }
    Ok(())
}

async fn attempt<Q, A>(
    call: Arc<Prepared<Q>>,
    sent: Q,
    before: usize,
    read: Read<A>,
    text: Arc<tokio::sync::Mutex<Replay>>,
    sender: mpsc::Sender<Event>,
) -> Result<(), Error>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    let mut text = text.lock().await;
    let key = call.key(false);
    let mut server = call.server(key.as_deref()).await?;
    let codec = ProstCodec::<Q, A>::default();
    let request = call.request(sent, before, key.as_deref());
    let answers = server.server_streaming(request, call.path.clone(), codec);
    let failed = |status| call.failed(status);
    let mut answers = answers.await.map_err(failed)?.into_inner();
    while let Some(chunk) = answers.message().await.map_err(failed)? {
        text.take(&chunk);
        let part = text.next(&read(chunk)?)?;
        if !part.is_empty() && sender.send(Ok(Some(part))).await.is_err() {
            return Ok(()); // nobody reads it
        }
    }
    text.end()
}
