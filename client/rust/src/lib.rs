//! A client of Attend, a server of transformer models on CPUs.
//!
//! ```no_run
//! # async fn example() -> Result<(), attend::Error> {
//! let client = attend::Client::builder("localhost:50051").build()?;
//! let mut parts = client.translate_stream("How are you?").start();
//! while let Some(part) = parts.next().await {
//!     print!("{}", part?);
//! }
//! let vectors = client.embed(["A dog runs."]).await?; // Vec<Vec<f32>>
//! # Ok(())
//! # }
//! ```
//!
//! Requests and results are the messages of [`v1`]; `docs/api.md` of Attend's
//! repository has the meaning of their fields. Results come in the order of the
//! inputs. What a method returns is a call that is not made yet: `.await` makes
//! it, and before that [`Call::with`] sets fields of its request:
//!
//! ```no_run
//! # async fn example(client: attend::Client) -> Result<(), attend::Error> {
//! let results = client
//!     .generate(["How are you?"])
//!     .with(|request| request.params.get_or_insert_default().num_beams = Some(4))
//!     .await?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod builder;
mod call;
mod client;
mod error;
mod inputs;
mod results;
mod retry;
mod servers;
mod tls;
mod trace;

pub use builder::ClientBuilder;
pub use call::{Call, Part, StreamedCall, TextStream};
pub use client::Client;
pub use error::Error;
pub use inputs::{chat, message, pair, tokens};
pub use results::{Each, Outcome, Single};
pub use retry::Retry;
pub use tls::Tls;
pub use tonic::Code;

/// The messages and stubs of the API.
#[allow(missing_docs, clippy::all)]
pub mod v1 {
    tonic::include_proto!("attend.v1");
}

#[allow(clippy::all)]
mod health {
    tonic::include_proto!("grpc.health.v1");
}
