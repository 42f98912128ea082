use std::any::Any;
use std::net::SocketAddr;

use ring::digest::{digest, SHA256};
use xxhash_rust::xxh64::xxh64;

use crate::v1::input::Input as Kind;
use crate::v1::{
    ClassifyRequest, EmbedRequest, FillMaskRequest, GenerateRequest, Input, RerankRequest,
    ScoreRequest, TokenizeRequest, TranslateRequest,
};

/// Proxies send calls with one value of it to one server, too.
pub(crate) const HEADER: &str = "x-attend-affinity";
/// Points of all servers together, at least.
const POINTS: usize = 1024;

/// What calls have in common that begin alike: of the first bytes of what a request
/// asks about first. None: it asks about nothing, or nobody wants it.
pub(crate) fn key(request: &dyn Any, bytes: usize) -> Option<String> {
    let text = first_text(request).filter(|_| bytes > 0)?;
    let begin = &text.as_bytes()[..bytes.min(text.len())];
    let hash = digest(&SHA256, begin);
    Some(hash.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

fn first_text(request: &dyn Any) -> Option<String> {
    macro_rules! of_inputs {
        ($($kind:ty),*) => {
            $(if let Some(request) = request.downcast_ref::<$kind>() {
                return request.inputs.first().map(text_of);
            })*
        };
    }
    of_inputs!(GenerateRequest, EmbedRequest, ClassifyRequest, FillMaskRequest);
    if let Some(request) = request.downcast_ref::<ScoreRequest>() {
        let text =
            |pair: &crate::v1::ScorePair| pair.source.as_ref().map(text_of).unwrap_or_default();
        return request.pairs.first().map(text);
    }
    if let Some(request) = request.downcast_ref::<RerankRequest>() {
        let query = Some(&request.query).filter(|query| !query.is_empty());
        return request.documents.first().or(query).cloned();
    }
    if let Some(request) = request.downcast_ref::<TranslateRequest>() {
        return request.documents.first().cloned();
    }
    request.downcast_ref::<TokenizeRequest>()?.texts.first().cloned()
}

fn text_of(input: &Input) -> String {
    match &input.input {
        Some(Kind::Text(text)) => text.clone(),
        Some(Kind::Tokens(tokens)) => {
            let ids: Vec<_> = tokens.ids.iter().map(ToString::to_string).collect();
            ids.join(" ")
        }
        Some(Kind::Chat(chat)) => {
            let of =
                |message: &crate::v1::ChatMessage| format!("{}\0{}", message.role, message.content);
            chat.messages.iter().map(of).collect::<Vec<_>>().join("\0")
        }
        None => String::new(),
    }
}

/// Points of servers on a circle: the ring of gRPC's policy ring_hash.
#[derive(Default)]
pub(crate) struct Ring(Vec<(u64, SocketAddr)>);

impl Ring {
    pub(crate) fn new(servers: &[SocketAddr]) -> Self {
        let each = POINTS.div_ceil(servers.len().max(1));
        let of = |server: &SocketAddr| {
            let server = *server;
            (0..each).map(move |i| (xxh64(format!("{server}_{i}").as_bytes(), 0), server))
        };
        let mut points: Vec<_> = servers.iter().flat_map(of).collect();
        points.sort_unstable();
        Self(points)
    }

    /// The first server from the key's point on that is good.
    pub(crate) fn find(&self, key: &str, good: impl Fn(&SocketAddr) -> bool) -> Option<SocketAddr> {
        let hash = xxh64(key.as_bytes(), 0);
        let begin = self.0.partition_point(|point| point.0 < hash);
        let (before, after) = self.0.split_at(begin);
        after.iter().chain(before).map(|point| point.1).find(good)
    }
}
