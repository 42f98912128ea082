use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep_until, Instant};
use tonic::Code;

use crate::Error;

/// How often a call is made again, and after how long: tonic has no service config.
/// `UNAVAILABLE` is retried, and what a proxy or a broken connection cuts off;
/// `RESOURCE_EXHAUSTED` if the server says when. The pause that the server names
/// (`RetryInfo`, `grpc-retry-pushback-ms`) takes the place of the backoff. A stream
/// is made again until its first message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// The first included. 1, and 0: nothing is retried.
    pub max_attempts: usize,
    /// Doubles with each attempt.
    pub initial_backoff: Duration,
    /// The longest backoff.
    pub max_backoff: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        let (initial_backoff, max_backoff) = (Duration::from_millis(100), Duration::from_secs(2));
        Self { max_attempts: 4, initial_backoff, max_backoff }
    }
}

impl Retry {
    /// The first attempt that succeeds, or the error of the last.
    pub(crate) async fn attempts<T, F>(
        &self,
        end: Option<Instant>,
        attempt: impl Fn(usize) -> F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let mut made = 0;
        loop {
            let error = match contained(attempt(made)).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            made += 1;
            match self.next(&error, made, end) {
                Some(next) => sleep_until(next).await,
                None => return Err(error),
            }
        }
    }

    /// When the next attempt begins, after `made` attempts. None: there is none;
    /// so it is, too, if it would begin when the call's time is over.
    pub(crate) fn next(&self, error: &Error, made: usize, end: Option<Instant>) -> Option<Instant> {
        let pause = error.retry_after().unwrap_or_else(|| self.backoff(made));
        let next = Instant::now().checked_add(pause)?;
        let late = end.is_some_and(|end| next >= end);
        (error.retriable() && made < self.max_attempts && !late).then_some(next)
    }

    fn backoff(&self, made: usize) -> Duration {
        let doubled = self.initial_backoff.as_secs_f64() * 2f64.powi(made as i32 - 1);
        let seconds = doubled.min(self.max_backoff.as_secs_f64());
        let random = RandomState::new().hash_one(0) as f64 / u64::MAX as f64;
        Duration::try_from_secs_f64(seconds * (0.8 + 0.4 * random)).unwrap_or(Duration::MAX)
    }
}

/// Runs an attempt in a task of its own, because tonic panics if a trailer is
/// malformed. Dropping the future cancels it.
pub(crate) async fn contained<T: Send + 'static>(
    attempt: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    let mut task = JoinSet::new();
    task.spawn(attempt);
    let broken = |error: JoinError| {
        Err(Error::new(Code::Internal, format!("the answer cannot be read: {error}")))
    };
    task.join_next().await.expect("there is one").unwrap_or_else(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_a_limit() {
        let retry = Retry::default();
        for (made, seconds) in [(1, 0.1), (2, 0.2), (5, 1.6), (6, 2.0), (1000, 2.0)] {
            let found = retry.backoff(made).as_secs_f64() / seconds;
            assert!((0.79..1.21).contains(&found), "{made}: {found}");
        }
    }

    #[test]
    fn attempts_and_the_deadline_are_limits() {
        let retry = Retry::default();
        let lost = Error::unavailable("lost");
        assert!(retry.next(&lost, 3, None).is_some());
        assert!(retry.next(&lost, 4, None).is_none());
        assert!(retry.next(&lost, 1, Some(Instant::now())).is_none());
        let forever = Retry { initial_backoff: Duration::MAX, max_backoff: Duration::MAX, ..retry };
        assert!(forever.next(&lost, 1, None).is_none());
    }
}
