use std::sync::Arc;
use std::time::Duration;

use crate::call::{Call, CallOptions, StreamedCall};
use crate::connection::Connection;
use crate::results::{each, generated, translated, vector, vectors, Each, Single};
use crate::retry::random;
use crate::v1::{
    AliasTarget, AnswerRequest, AnswerResponse, AnswerResult, ClassifyRequest, ClassifyResponse,
    ClassifyResult, DetokenizeRequest, DetokenizeResponse, EmbedRequest, EmbedResponse,
    EmbeddingEncoding, FillMaskRequest, FillMaskResponse, FillMaskResult, GenerateChunk,
    GenerateRequest, GenerateResponse, GenerateResult, GenerationParams, GetModelRequest, Input,
    ListModelsRequest, ListModelsResponse, LoadModelRequest, LoadModelResponse, Model,
    ProfileChunk, ProfileRequest, Question, RerankRequest, RerankResponse, RerankResult, ScorePair,
    ScoreRequest, ScoreResponse, ScoreResult, SetAliasRequest, SetAliasResponse, Tokenization,
    TokenizeRequest, TokenizeResponse, Tokens, TranslateChunk, TranslateRequest, TranslateResponse,
    Translation, UnloadModelRequest, UnloadModelResponse,
};
use crate::ClientBuilder;

/// Calls one or several servers of the same models. Clones share the connections,
/// which end with the last of them. It needs a runtime of tokio.
#[derive(Clone)]
pub struct Client {
    connection: Arc<Connection>,
    options: CallOptions,
}

impl Client {
    /// Options of a client of `HOST:PORT`, or of several of them with commas
    /// between. DNS may name several servers. Of an empty text: of
    /// `ATTEND_ADDRESS`, or else of localhost:50051.
    pub fn builder(target: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(target.into())
    }

    pub(crate) fn new(connection: Arc<Connection>, options: CallOptions) -> Self {
        Self { connection, options }
    }

    fn call<Q: 'static, A, R>(
        &self,
        path: &'static str,
        request: Q,
        read: fn(A) -> R,
    ) -> Call<Q, A, R> {
        Call::new(&self.connection, &self.options, path, request, read)
    }

    fn model_name(&self) -> String {
        self.connection.model.clone()
    }

    /// Continues texts, answers chats, or translates sentences.
    pub fn generate(
        &self,
        inputs: impl IntoIterator<Item = impl Into<Input>>,
    ) -> Call<GenerateRequest, GenerateResponse, Each<GenerateResult>> {
        let request = GenerateRequest {
            model: self.model_name(),
            inputs: inputs.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/Generate", request, |answer| {
            each(answer.results, |result| result)
        })
    }

    /// The text that `generate` returns, in parts as they are computed.
    pub fn stream(&self, input: impl Into<Input>) -> StreamedCall<GenerateRequest, GenerateChunk> {
        let request = GenerateRequest {
            model: self.model_name(),
            inputs: vec![input.into()],
            ..Default::default()
        };
        let path = "/attend.v1.Attend/GenerateStream";
        StreamedCall::new(&self.connection, &self.options, path, request, generated)
            .finish(|request| draw_seed(&mut request.params))
    }

    /// Translates documents of any number of sentences: text, HTML, XML, Markdown.
    pub fn translate(
        &self,
        documents: impl IntoIterator<Item = impl Into<String>>,
    ) -> Call<TranslateRequest, TranslateResponse, Each<Translation>> {
        let request = TranslateRequest {
            model: self.model_name(),
            documents: documents.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/Translate", request, |answer| {
            each(answer.results, |result| result)
        })
    }

    /// A document's translation, sentence by sentence.
    pub fn translate_stream(
        &self,
        document: impl Into<String>,
    ) -> StreamedCall<TranslateRequest, TranslateChunk> {
        let request = TranslateRequest {
            model: self.model_name(),
            documents: vec![document.into()],
            ..Default::default()
        };
        let path = "/attend.v1.Attend/TranslateStream";
        StreamedCall::new(&self.connection, &self.options, path, request, translated)
            .finish(|request| draw_seed(&mut request.params))
    }

    /// The log-probability of the second of each pair after the first.
    pub fn score(
        &self,
        pairs: impl IntoIterator<Item = (impl Into<Input>, impl Into<Input>)>,
    ) -> Call<ScoreRequest, ScoreResponse, Each<ScoreResult>> {
        let pair = |(source, target): (_, _)| ScorePair {
            source: Some(Into::into(source)),
            target: Some(Into::into(target)),
        };
        let request = ScoreRequest {
            model: self.model_name(),
            pairs: pairs.into_iter().map(pair).collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/Score", request, |answer| {
            each(answer.results, |result| result)
        })
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
        let request = EmbedRequest {
            model: self.model_name(),
            inputs: inputs.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/Embed", request, read)
    }

    /// Labels texts, pairs of texts, or the tokens of texts.
    pub fn classify(
        &self,
        inputs: impl IntoIterator<Item = impl Into<Input>>,
    ) -> Call<ClassifyRequest, ClassifyResponse, Each<ClassifyResult>> {
        let request = ClassifyRequest {
            model: self.model_name(),
            inputs: inputs.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/Classify", request, |answer| {
            each(answer.results, |result| result)
        })
    }

    /// Finds tokens for the masks in texts.
    pub fn fill_mask(
        &self,
        inputs: impl IntoIterator<Item = impl Into<Input>>,
    ) -> Call<FillMaskRequest, FillMaskResponse, Each<FillMaskResult>> {
        let request = FillMaskRequest {
            model: self.model_name(),
            inputs: inputs.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/FillMask", request, |answer| {
            each(answer.results, |result| result)
        })
    }

    /// The answers to questions in texts, best first.
    pub fn answer(
        &self,
        questions: impl IntoIterator<Item = Question>,
    ) -> Call<AnswerRequest, AnswerResponse, Each<AnswerResult>> {
        let request = AnswerRequest {
            model: self.model_name(),
            questions: questions.into_iter().collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/Answer", request, |answer| {
            each(answer.results, |result| result)
        })
    }

    /// The documents' indices and scores, those first that answer the query best.
    pub fn rerank(
        &self,
        query: impl Into<String>,
        documents: impl IntoIterator<Item = impl Into<String>>,
    ) -> Call<RerankRequest, RerankResponse, Each<RerankResult>> {
        let request = RerankRequest {
            model: self.model_name(),
            query: query.into(),
            documents: documents.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/Rerank", request, |answer| {
            each(answer.results, |result| result)
        })
    }

    /// The token ids of texts, then of the request's chats.
    pub fn tokenize(
        &self,
        texts: impl IntoIterator<Item = impl Into<String>>,
    ) -> Call<TokenizeRequest, TokenizeResponse, Each<Tokenization>> {
        let request = TokenizeRequest {
            model: self.model_name(),
            texts: texts.into_iter().map(Into::into).collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/Tokenize", request, |answer| {
            each(answer.results, |result| result)
        })
    }

    /// The texts of lists of token ids.
    pub fn detokenize(
        &self,
        sequences: impl IntoIterator<Item = impl Into<Vec<i32>>>,
    ) -> Call<DetokenizeRequest, DetokenizeResponse, Each<String>> {
        let tokens = |ids: _| Tokens { ids: Into::into(ids), ..Default::default() };
        let request = DetokenizeRequest {
            model: self.model_name(),
            sequences: sequences.into_iter().map(tokens).collect(),
            ..Default::default()
        };
        self.call("/attend.v1.Attend/Detokenize", request, |answer| {
            each(answer.results, |result| result.text)
        })
    }

    /// The models of the server, the default model first.
    pub fn models(&self) -> Call<ListModelsRequest, ListModelsResponse, Single<Vec<Model>>> {
        let request = ListModelsRequest {};
        self.call("/attend.v1.Attend/ListModels", request, |answer| Single(answer.models))
    }

    /// A model of the server; of an empty name its default model.
    pub fn model(&self, name: impl Into<String>) -> Call<GetModelRequest, Model, Single<Model>> {
        let request = GetModelRequest { name: name.into() };
        self.call("/attend.v1.Attend/GetModel", request, Single)
    }

    /// Loads a model, or loads it anew: the highest version, unless the request
    /// says which. Needs a server with `--model-control=explicit`, and time: see
    /// [`Call::timeout`].
    pub fn load_model(
        &self,
        name: impl Into<String>,
    ) -> Call<LoadModelRequest, LoadModelResponse, Single<Model>> {
        let request = LoadModelRequest { name: name.into(), ..Default::default() };
        self.call("/attend.v1.Admin/LoadModel", request, |answer| {
            Single(answer.model.unwrap_or_default())
        })
    }

    /// Takes a model out of service. Calls that run go on.
    pub fn unload_model(
        &self,
        name: impl Into<String>,
    ) -> Call<UnloadModelRequest, UnloadModelResponse, Single<()>> {
        let request = UnloadModelRequest { name: name.into() };
        self.call("/attend.v1.Admin/UnloadModel", request, |_| Single(()))
    }

    /// Makes a name an alias of models with weights; of none: ends it.
    pub fn set_alias(
        &self,
        name: impl Into<String>,
        targets: impl IntoIterator<Item = (impl Into<String>, i32)>,
    ) -> Call<SetAliasRequest, SetAliasResponse, Single<()>> {
        let target = |(model, weight): (_, i32)| AliasTarget {
            model: Into::into(model),
            weight: Some(weight),
        };
        let request = SetAliasRequest {
            name: name.into(),
            targets: targets.into_iter().map(target).collect(),
        };
        self.call("/attend.v1.Admin/SetAlias", request, |_| Single(()))
    }

    /// Records what the server computes, at most a minute: JSON for
    /// ui.perfetto.dev. The timeout begins after that time.
    pub fn profile(
        &self,
        duration: Duration,
    ) -> Call<ProfileRequest, ProfileChunk, Single<Vec<u8>>> {
        let message = prost_types::Duration::try_from(duration);
        let request = ProfileRequest { duration: Some(message.unwrap_or_default()) };
        self.call("/attend.v1.Admin/Profile", request, |all: ProfileChunk| Single(all.trace))
            .in_pieces(|all, piece| all.trace.extend(piece.trace), duration)
    }
}

/// The seed that the server would draw, so that a second attempt has the same. It
/// does nothing where results are not sampled.
fn draw_seed(params: &mut Option<GenerationParams>) {
    params.get_or_insert_default().seed.get_or_insert_with(random);
}

fn ask_for_bytes(request: &mut EmbedRequest, per_token: bool) {
    request.per_token = per_token;
    request.set_encoding(EmbeddingEncoding::EmbeddingFloat32);
}
