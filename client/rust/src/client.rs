use std::sync::Arc;
use std::time::Duration;

use crate::call::{Call, CallOptions, StreamedCall};
use crate::results::{each, generated, translated, vector, vectors, Each, Single};
use crate::retry::Retry;
use crate::servers::Servers;
use crate::v1::*;
use crate::ClientBuilder;

/// What all calls of a client share.
pub(crate) struct Connection {
    pub(crate) servers: Arc<Servers>,
    pub(crate) model: String,
    pub(crate) retry: Retry,
}

/// Calls one or several servers of the same models. Clones share the connections,
/// which end with the last of them. It needs a runtime of tokio.
#[derive(Clone)]
pub struct Client {
    pub(crate) connection: Arc<Connection>,
    pub(crate) options: CallOptions,
}

/// Methods of a list, whose answer has a result for each of its items.
macro_rules! batches {
    ($($(#[$doc:meta])* $name:ident($list:ident: $item:ty) is
       $method:literal($request:ident) -> $response:ident of $result:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(
            &self,
            $list: impl IntoIterator<Item = impl Into<$item>>,
        ) -> Call<$request, $response, Each<$result>> {
            let $list = $list.into_iter().map(Into::into).collect();
            let request = $request { model: self.model_name(), $list, ..Default::default() };
            let path = concat!("/attend.v1.Attend/", $method);
            Call::new(self, path, request, |answer| each(answer.results, |result| result))
        })*
    };
}

impl Client {
    /// Options of a client of `HOST:PORT`, or of several of them with commas
    /// between. DNS may name several servers. Of an empty text: of
    /// `ATTEND_ADDRESS`, or else of localhost:50051.
    pub fn builder(target: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(target.into())
    }

    fn model_name(&self) -> String {
        self.connection.model.clone()
    }

    batches! {
        /// Continues texts, answers chats, or translates sentences.
        generate(inputs: Input) is
            "Generate"(GenerateRequest) -> GenerateResponse of GenerateResult;
        /// Translates documents of any number of sentences: text, HTML, XML, Markdown.
        translate(documents: String) is
            "Translate"(TranslateRequest) -> TranslateResponse of Translation;
        /// Labels texts, pairs of texts, or the tokens of texts.
        classify(inputs: Input) is
            "Classify"(ClassifyRequest) -> ClassifyResponse of ClassifyResult;
        /// Finds tokens for the masks in texts.
        fill_mask(inputs: Input) is
            "FillMask"(FillMaskRequest) -> FillMaskResponse of FillMaskResult;
        /// The answers to questions in texts, best first.
        answer(questions: Question) is
            "Answer"(AnswerRequest) -> AnswerResponse of AnswerResult;
        /// The token ids of texts, then of the request's chats.
        tokenize(texts: String) is
            "Tokenize"(TokenizeRequest) -> TokenizeResponse of Tokenization;
    }

    /// The text that `generate` returns, in parts as they are computed.
    pub fn stream(&self, input: impl Into<Input>) -> StreamedCall<GenerateRequest, GenerateChunk> {
        let (model, inputs) = (self.model_name(), vec![input.into()]);
        let request = GenerateRequest { model, inputs, ..Default::default() };
        Call::new(self, "/attend.v1.Attend/GenerateStream", request, generated)
    }

    /// A document's translation, sentence by sentence.
    pub fn translate_stream(
        &self,
        document: impl Into<String>,
    ) -> StreamedCall<TranslateRequest, TranslateChunk> {
        let (model, documents) = (self.model_name(), vec![document.into()]);
        let request = TranslateRequest { model, documents, ..Default::default() };
        Call::new(self, "/attend.v1.Attend/TranslateStream", request, translated)
    }

    /// The log-probability of the second of each pair after the first.
    pub fn score(
        &self,
        pairs: impl IntoIterator<Item = (impl Into<Input>, impl Into<Input>)>,
    ) -> Call<ScoreRequest, ScoreResponse, Each<ScoreResult>> {
        let pairs = pairs.into_iter().map(|(source, target)| ScorePair {
            source: Some(source.into()),
            target: Some(target.into()),
        });
        let (model, pairs) = (self.model_name(), pairs.collect());
        let request = ScoreRequest { model, pairs, ..Default::default() };
        let read = |answer: ScoreResponse| each(answer.results, |result| result);
        Call::new(self, "/attend.v1.Attend/Score", request, read)
    }

    /// A vector of each input.
    pub fn embed(
        &self,
        inputs: impl IntoIterator<Item = impl Into<Input>>,
    ) -> Call<EmbedRequest, EmbedResponse, Each<Vec<f32>>> {
        self.embedding(inputs, |answer| each(answer.results, vector))
            .finish(|request| ask_for_bytes(request, false))
    }

    /// The vectors of each input's tokens.
    pub fn embed_tokens(
        &self,
        inputs: impl IntoIterator<Item = impl Into<Input>>,
    ) -> Call<EmbedRequest, EmbedResponse, Each<Vec<Vec<f32>>>> {
        self.embedding(inputs, |answer| each(answer.results, vectors))
            .finish(|request| ask_for_bytes(request, true))
    }

    fn embedding<R>(
        &self,
        inputs: impl IntoIterator<Item = impl Into<Input>>,
        read: fn(EmbedResponse) -> R,
    ) -> Call<EmbedRequest, EmbedResponse, R> {
        let (model, inputs) = (self.model_name(), inputs.into_iter().map(Into::into).collect());
        let request = EmbedRequest { model, inputs, ..Default::default() };
        Call::new(self, "/attend.v1.Attend/Embed", request, read)
    }

    /// The documents' indices and scores, those first that answer the query best.
    pub fn rerank(
        &self,
        query: impl Into<String>,
        documents: impl IntoIterator<Item = impl Into<String>>,
    ) -> Call<RerankRequest, RerankResponse, Each<RerankResult>> {
        let documents = documents.into_iter().map(Into::into).collect();
        let (model, query) = (self.model_name(), query.into());
        let request = RerankRequest { model, query, documents, ..Default::default() };
        let read = |answer: RerankResponse| each(answer.results, |result| result);
        Call::new(self, "/attend.v1.Attend/Rerank", request, read)
    }

    /// The texts of lists of token ids.
    pub fn detokenize(
        &self,
        sequences: impl IntoIterator<Item = impl Into<Vec<i32>>>,
    ) -> Call<DetokenizeRequest, DetokenizeResponse, Each<String>> {
        let tokens = |ids: _| Tokens { ids: Into::into(ids), ..Default::default() };
        let sequences = sequences.into_iter().map(tokens).collect();
        let request =
            DetokenizeRequest { model: self.model_name(), sequences, ..Default::default() };
        let read = |answer: DetokenizeResponse| each(answer.results, |result| result.text);
        Call::new(self, "/attend.v1.Attend/Detokenize", request, read)
    }

    /// The models of the server, the default model first.
    pub fn models(&self) -> Call<ListModelsRequest, ListModelsResponse, Single<Vec<Model>>> {
        let read = |answer: ListModelsResponse| Single(answer.models);
        Call::new(self, "/attend.v1.Attend/ListModels", ListModelsRequest {}, read)
    }

    /// A model of the server; of an empty name its default model.
    pub fn model(&self, name: impl Into<String>) -> Call<GetModelRequest, Model, Single<Model>> {
        let request = GetModelRequest { name: name.into() };
        Call::new(self, "/attend.v1.Attend/GetModel", request, Single)
    }

    /// Loads or reloads a model: the highest version, unless the request says
    /// which. Needs a server with `--model-control=explicit`, and time: see
    /// [`Call::timeout`].
    pub fn load_model(
        &self,
        name: impl Into<String>,
    ) -> Call<LoadModelRequest, LoadModelResponse, Single<Model>> {
        let request = LoadModelRequest { name: name.into(), ..Default::default() };
        let read = |answer: LoadModelResponse| Single(answer.model.unwrap_or_default());
        Call::new(self, "/attend.v1.Admin/LoadModel", request, read)
    }

    /// Takes a model out of service. Running calls continue.
    pub fn unload_model(
        &self,
        name: impl Into<String>,
    ) -> Call<UnloadModelRequest, UnloadModelResponse, Single<()>> {
        let request = UnloadModelRequest { name: name.into() };
        Call::new(self, "/attend.v1.Admin/UnloadModel", request, |_| Single(()))
    }

    /// Makes a name an alias of models with weights; without models: removes it.
    pub fn set_alias(
        &self,
        name: impl Into<String>,
        targets: impl IntoIterator<Item = (impl Into<String>, i32)>,
    ) -> Call<SetAliasRequest, SetAliasResponse, Single<()>> {
        let target = |(model, weight): (_, i32)| AliasTarget {
            model: Into::into(model),
            weight: Some(weight),
        };
        let targets = targets.into_iter().map(target).collect();
        let request = SetAliasRequest { name: name.into(), targets };
        Call::new(self, "/attend.v1.Admin/SetAlias", request, |_| Single(()))
    }

    /// Records what the server computes, at most a minute: JSON for
    /// ui.perfetto.dev. The timeout begins after that time.
    pub fn profile(
        &self,
        duration: Duration,
    ) -> Call<ProfileRequest, ProfileChunk, Single<Vec<u8>>> {
        let message = prost_types::Duration::try_from(duration);
        let request = ProfileRequest { duration: Some(message.unwrap_or_default()) };
        Call::new(self, "/attend.v1.Admin/Profile", request, |all: ProfileChunk| Single(all.trace))
            .in_pieces(|all, piece| all.trace.extend(piece.trace), duration)
    }
}

fn ask_for_bytes(request: &mut EmbedRequest, per_token: bool) {
    request.per_token = per_token;
    request.set_encoding(EmbeddingEncoding::EmbeddingFloat32);
}
