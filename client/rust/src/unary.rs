use std::sync::Arc;

use prost::Message;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep_until, timeout_at, Instant};
use tonic::Code;
use tonic_prost::ProstCodec;

use crate::call::{or_deadline, Prepared};
use crate::Error;

/// A call by one or several attempts: after a failure when the rules of Retry say
/// so, and with Hedging while others run.
pub(crate) async fn unary<Q, A>(call: Prepared<Q>) -> Result<A, Error>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    let call = Arc::new(call);
    let answer = match call.end {
        Some(end) => {
            timeout_at(end, attempts(call.clone())).await.unwrap_or_else(|_| Err(Error::deadline()))
        }
        None => attempts(call.clone()).await,
    };
    answer.map_err(|error| or_deadline(&call, error))
}

/// Attempts that run are cancelled when this ends.
async fn attempts<Q, A>(call: Arc<Prepared<Q>>) -> Result<A, Error>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    let connection = &call.connection;
    let (retry, hedging) = (connection.retry, call.hedging);
    let mut running = JoinSet::new();
    let mut made = 0;
    let mut next = Some(Instant::now());
    loop {
        tokio::select! {
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                next = None;
                if !running.is_empty() && !connection.budget.take() {
                    continue;
                }
                made += 1;
                running.spawn(attempt(call.clone()));
                if let Some(hedging) = hedging {
                    if made < retry.max_attempts && running.len() < hedging.max_running {
                        next = Instant::now().checked_add(hedging.after);
                    }
                }
            }
            Some(ended) = running.join_next() => {
                let error = match ended.unwrap_or_else(|error| Err(broken(error))) {
                    Ok(answer) => {
                        if made == 1 {
                            connection.budget.answered();
                        }
                        return Ok(answer);
                    }
                    Err(error) => error,
                };
                if !error.retriable() {
                    return Err(error);
                }
                next = retry.next(&error, made, call.end);
                if next.is_none() && running.is_empty() {
                    return Err(error);
                }
            }
        }
    }
}

async fn attempt<Q, A>(call: Arc<Prepared<Q>>) -> Result<A, Error>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    let mut server = call.server().await?;
    let codec = ProstCodec::<Q, A>::default();
    let answer = server.unary(call.request(), call.path.clone(), codec).await;
    Ok(answer.map_err(|status| call.failed(status))?.into_inner())
}

/// tonic panics where a trailer is malformed.
pub(crate) fn broken(error: JoinError) -> Error {
    Error::new(Code::Internal, format!("the answer cannot be read: {error}"))
}
