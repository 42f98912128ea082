use std::sync::Arc;

use prost::Message;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep_until, timeout_at, Instant};
use tonic::Code;
use tonic_prost::ProstCodec;

use crate::call::{or_deadline, Join, Prepared};
use crate::Error;

/// A call by one or several attempts: after a failure when the rules of Retry say
/// so, and with Hedging while others run. `join`: the answer comes in pieces.
pub(crate) async fn unary<Q, A>(call: Prepared<Q>, join: Option<Join<A>>) -> Result<A, Error>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    let call = Arc::new(call);
    let answer = match call.end {
        Some(end) => {
            let all = attempts(call.clone(), join);
            timeout_at(end, all).await.unwrap_or_else(|_| Err(Error::deadline()))
        }
        None => attempts(call.clone(), join).await,
    };
    answer.map_err(|error| or_deadline(&call, error))
}

/// Attempts that run are cancelled when this ends.
async fn attempts<Q, A>(call: Arc<Prepared<Q>>, join: Option<Join<A>>) -> Result<A, Error>
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
                let key = call.key(!running.is_empty());
                running.spawn(attempt(call.clone(), made - 1, key, join));
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

async fn attempt<Q, A>(
    call: Arc<Prepared<Q>>,
    before: usize,
    key: Option<String>,
    join: Option<Join<A>>,
) -> Result<A, Error>
where
    Q: Message + Clone + 'static,
    A: Message + Default + 'static,
{
    let key = key.as_deref();
    let mut server = call.server(key).await?;
    let codec = ProstCodec::<Q, A>::default();
    let (request, path) = (call.request(call.request.clone(), before, key), call.path.clone());
    let failed = |status| call.failed(status);
    let Some(join) = join else {
        return Ok(server.unary(request, path, codec).await.map_err(failed)?.into_inner());
    };
    let answers = server.server_streaming(request, path, codec).await;
    let mut answers = answers.map_err(failed)?.into_inner();
    let mut all = A::default();
    while let Some(piece) = answers.message().await.map_err(failed)? {
        join(&mut all, piece);
    }
    Ok(all)
}

/// tonic panics where a trailer is malformed.
pub(crate) fn broken(error: JoinError) -> Error {
    Error::new(Code::Internal, format!("the answer cannot be read: {error}"))
}
