use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};

use crate::v1;

const LONGEST_SECONDS: i64 = 315_576_000_000; // of a protobuf Duration

/// Why a call failed, or one of its inputs, or why there is no client.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    code: Code,
    message: String,
    retry_after: Option<Duration>,
    input: Option<usize>,
    retriable: bool,
    broken: bool,
}

impl Error {
    /// An error that is not of a server. It is not retried.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let (message, retry_after, input) = (message.into(), None, None);
        Self { code, message, retry_after, input, retriable: false, broken: false }
    }

    /// A server that cannot be reached.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self { retriable: true, ..Self::new(Code::Unavailable, message) }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    pub(crate) fn deadline() -> Self {
        Self::new(Code::DeadlineExceeded, "deadline exceeded")
    }

    /// The error of an input; None if it did not fail.
    pub(crate) fn of_input(status: Option<&v1::Status>, input: usize) -> Option<Self> {
        let status = status.filter(|status| status.code != 0)?;
        Some(Self { input: Some(input), ..Self::new(Code::from_i32(status.code), &status.message) })
    }

    /// The code of gRPC.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What is wrong, its value and the limit.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// When the server wants to see the call again. None: it does not say.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Which of the call's inputs failed. None: the whole call.
    pub fn input(&self) -> Option<usize> {
        self.input
    }

    /// Whether the call may be made again.
    pub(crate) fn retriable(&self) -> bool {
        self.retriable
    }

    /// Whether it was not said by a server: the connection broke, or a proxy cut the
    /// call off.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// An error and what it came from, innermost last.
    pub(crate) fn describe(error: &dyn std::error::Error) -> String {
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
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}: ", self.code)?;
        if let Some(input) = self.input {
            write!(out, "input {input}: ")?;
        }
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// What tonic says of an attempt that failed. What has a source was not said by a
/// server.
impl From<Status> for Error {
    fn from(status: Status) -> Self {
        let (retry_after, is_final) = match pushback(&status) {
            Some(after) => (after, after.is_none()),
            None => (retry_delay(status.details()), false),
        };
        let broken = status.source().is_some();
        let retriable = status.code() == Code::Unavailable
            || broken
            || (status.code() == Code::ResourceExhausted && retry_after.is_some());
        let message = match status.source() {
            Some(source) if status.message() != "Timeout expired" => Self::describe(source),
            _ => status.message().to_owned(),
        };
        let retriable = retriable && !is_final;
        // tonic does not know the code of a connection that broke.
        let unknown = broken && status.code() == Code::Unknown;
        let code = if unknown { Code::Unavailable } else { status.code() };
        Self { code, message, retry_after, input: None, retriable, broken }
    }
}

/// Of `grpc-retry-pushback-ms`. What is negative or no number means "do not
/// retry" (gRPC A6): Some(None).
fn pushback(status: &Status) -> Option<Option<Duration>> {
    let value = status.metadata().get("grpc-retry-pushback-ms")?;
    let milliseconds = value.to_str().ok().and_then(|text| text.parse().ok());
    Some(milliseconds.map(Duration::from_millis))
}

/// Of the google.rpc.RetryInfo in a google.rpc.Status.
fn retry_delay(details: &[u8]) -> Option<Duration> {
    let status = v1::StatusDetails::decode(details).ok()?;
    let found =
        status.details.iter().find(|detail| detail.type_url.ends_with("/google.rpc.RetryInfo"))?;
    let delay = v1::RetryInfo::decode(&*found.value).ok()?.retry_delay?;
    let seconds = delay.seconds.clamp(0, LONGEST_SECONDS) as u64;
    let nanos = delay.nanos.clamp(0, 999_999_999) as u32;
    Some(Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_pushback(code: Code, value: &str) -> Error {
        let mut status = Status::new(code, "failed");
        let value = value.parse().unwrap();
        status.metadata_mut().insert("grpc-retry-pushback-ms", value);
        status.into()
    }

    #[test]
    fn pushback_may_be_anything() {
        let error = with_pushback(Code::ResourceExhausted, "7");
        assert_eq!(error.retry_after(), Some(Duration::from_millis(7)));
        assert!(error.retriable());
        for bad in ["-1", "soon", "", "99999999999999999999"] {
            let error = with_pushback(Code::Unavailable, bad);
            assert_eq!(error.retry_after(), None);
            assert!(!error.retriable(), "{bad}");
        }
    }

    #[test]
    fn what_is_cut_off_is_made_again() {
        let cut = Status::from_error("stream closed".into());
        assert!(Error::from(cut).retriable());
        let said = Status::internal("a number is not finite");
        assert!(!Error::from(said).retriable());
    }

    #[test]
    fn delays_may_be_anything() {
        let detail = |seconds, nanos| {
            let info =
                v1::RetryInfo { retry_delay: Some(prost_types::Duration { seconds, nanos }) };
            let any = prost_types::Any {
                type_url: "type.googleapis.com/google.rpc.RetryInfo".into(),
                value: info.encode_to_vec(),
            };
            retry_delay(
                &v1::StatusDetails { details: vec![any], ..Default::default() }.encode_to_vec(),
            )
        };
        assert_eq!(detail(1, 500_000_000), Some(Duration::from_millis(1500)));
        assert_eq!(detail(-1, -1), Some(Duration::ZERO));
        let most = Duration::new(LONGEST_SECONDS as u64, 999_999_999);
        assert_eq!(detail(i64::MAX, i32::MAX), Some(most));
        assert_eq!(retry_delay(b"\xff"), None);
        assert_eq!(retry_delay(b""), None);
    }

    #[test]
    fn text_names_the_input() {
        let status = v1::Status { code: 5, message: "none".into() };
        let error = Error::of_input(Some(&status), 2).unwrap();
        assert_eq!(error.to_string(), "NotFound: input 2: none");
        assert_eq!(Error::of_input(Some(&v1::Status::default()), 0), None);
        assert_eq!(Error::of_input(None, 0), None);
    }
}
