"""What each method sends, and how its answer is read: the same for both kinds
of clients, and without any I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Generic, Iterable, Mapping, TypeVar

from google.protobuf.message import Message

from attend import results
from attend._inputs import Inputs, input_of, inputs_of, texts_of
from attend._replay import with_seed
from attend.errors import error_of
from attend.v1 import attend_pb2 as pb

Result = TypeVar("Result")
PARAMS = pb.GenerationParams.DESCRIPTOR.fields_by_name


@dataclass(frozen=True)
class Call(Generic[Result]):
    """A call of attend.v1 before it is made."""

    method: str
    request: Message
    answer: Any  # the class of the answer's messages
    read: Callable[[Any], Result]  # of the answer, or of one message of it
    options: dict[str, Any]  # CallOptions that were given
    service: str = "Attend"
    in_pieces: bool = False  # the answer is a list of messages

    @property
    def path(self) -> str:
        return f"/attend.v1.{self.service}/{self.method}"

    @staticmethod
    def serialize(request: Message) -> bytes:
        return request.SerializeToString()


def call(method: str, answer: Any, read: Callable[[Any], Result], request: Any,
         options: Mapping[str, Any], /, **fields: Any) -> Call[Result]:
    """`request` is the class of the request. `options` are CallOptions, fields
    of the request, and fields of its params."""
    own: dict[str, Any] = {}
    params: dict[str, Any] = {}
    known = request.DESCRIPTOR.fields_by_name
    for option, value in options.items():
        if option in ("timeout", "metadata", "traceparent", "cancellation"):
            own[option] = value
        elif option in known and option != "params":
            fields[option] = _value(known[option], value)
        elif "params" in known and option in PARAMS:
            params[option] = _value(PARAMS[option], value)
        else:
            raise TypeError(f"{method} has no option '{option}'")
    if params:
        fields["params"] = pb.GenerationParams(**params)
    return Call(method, request(**fields), answer, read, own)


def _value(field: Any, value: Any) -> Any:
    """An enumeration's values are written as in "html", not in
    "DOCUMENT_FORMAT_HTML"."""
    if field.enum_type is None or not isinstance(value, (str, bool)):
        return value
    ends = {other.name: other.number for other in field.enum_type.values}
    end = str(value).upper()
    for name, number in ends.items():
        if name.endswith(f"_{end}"):
            return number
    known = ", ".join(name.rsplit("_", 1)[1].lower() for name in ends)
    raise ValueError(f"{field.name} is '{value}', must be one of {known}")


def _each(read: Callable[[Any], Result]) -> Callable[[Any], list[Result]]:
    return lambda answer: results.read_all(answer.results, read)


def generate(inputs: Inputs, options: Any) -> Call[list[results.Generation]]:
    return call("Generate", pb.GenerateResponse, _each(results.generation),
                pb.GenerateRequest, options, inputs=inputs_of(inputs))


def stream(source: str | pb.Input, options: Any) -> Call[str]:
    return call("GenerateStream", pb.GenerateChunk, _part,
                pb.GenerateRequest, with_seed(options),
                inputs=[input_of(source)])


def translate(documents: str | Iterable[str],
              options: Any) -> Call[list[results.Translation]]:
    return call("Translate", pb.TranslateResponse, _each(results.translation),
                pb.TranslateRequest, _with_terms(options),
                documents=texts_of(documents))


def translate_stream(document: str, options: Any) -> Call[str]:
    return call("TranslateStream", pb.TranslateChunk, _part,
                pb.TranslateRequest, with_seed(_with_terms(options)),
                documents=[document])


def _with_terms(options: Mapping[str, Any]) -> dict[str, Any]:
    terms = [pb.GlossaryTerm(source=source, target=target)
             for source, target in options.get("glossary", {}).items()]
    return {**options, "glossary": terms}


def _part(chunk: Any) -> str:
    """The text of a chunk, if it is of the first choice."""
    if chunk.HasField("status") and chunk.status.code != 0:
        raise error_of(chunk.status.code, chunk.status.message)
    return chunk.text if getattr(chunk, "choice", 0) == 0 else ""


def score(pairs: Iterable[tuple[str | pb.Input, str | pb.Input]],
          options: Any) -> Call[list[results.Score]]:
    return call("Score", pb.ScoreResponse, _each(results.score),
                pb.ScoreRequest, options, pairs=[
                    pb.ScorePair(source=input_of(source),
                                 target=input_of(target))
                    for source, target in pairs])


def embed(inputs: Inputs, options: Any) -> Call[results.Vectors]:
    return call("Embed", pb.EmbedResponse, results.matrix, pb.EmbedRequest,
                options, inputs=inputs_of(inputs),
                encoding=pb.EMBEDDING_FLOAT32)


def embed_tokens(inputs: Inputs, options: Any) -> Call[list[results.Vectors]]:
    return call("Embed", pb.EmbedResponse, _each(results.vectors),
                pb.EmbedRequest, options, inputs=inputs_of(inputs),
                encoding=pb.EMBEDDING_FLOAT32, per_token=True)


def embed_sparse(inputs: Inputs,
                 options: Any) -> Call[list[dict[int, float]]]:
    return call("Embed", pb.EmbedResponse, _each(results.weights),
                pb.EmbedRequest, options, inputs=inputs_of(inputs),
                kinds=[pb.EMBEDDING_KIND_SPARSE])


def embed_multi_vector(inputs: Inputs,
                       options: Any) -> Call[list[results.Vectors]]:
    return call("Embed", pb.EmbedResponse, _each(results.multi_vector),
                pb.EmbedRequest, options, inputs=inputs_of(inputs),
                encoding=pb.EMBEDDING_FLOAT32,
                kinds=[pb.EMBEDDING_KIND_MULTI_VECTOR])


def classify(inputs: Inputs,
             options: Any) -> Call[list[results.Classification]]:
    return call("Classify", pb.ClassifyResponse, _each(results.classification),
                pb.ClassifyRequest, options, inputs=inputs_of(inputs))


def fill_mask(inputs: Inputs, options: Any) -> Call[list[results.FilledText]]:
    return call("FillMask", pb.FillMaskResponse, _each(results.filled_text),
                pb.FillMaskRequest, options, inputs=inputs_of(inputs))


def answer(questions: Iterable[tuple[str, str]],
           options: Any) -> Call[list[list[results.Answer]]]:
    return call("Answer", pb.AnswerResponse, _each(results.answers),
                pb.AnswerRequest, options, questions=[
                    pb.Question(question=question, context=context)
                    for question, context in questions])


def rerank(query: str, documents: Iterable[str],
           options: Any) -> Call[list[results.Ranked]]:
    documents = list(documents)
    return call("Rerank", pb.RerankResponse,
                lambda answer: results.ranking(answer, documents),
                pb.RerankRequest, options, query=query, documents=documents)


def tokenize(texts: str | Iterable[str],
             options: Any) -> Call[list[results.Tokenization]]:
    return call("Tokenize", pb.TokenizeResponse, _each(results.tokenization),
                pb.TokenizeRequest, options, texts=texts_of(texts))


def detokenize(sequences: Iterable[Iterable[int]],
               options: Any) -> Call[list[str]]:
    return call("Detokenize", pb.DetokenizeResponse,
                _each(lambda result: str(result.text)), pb.DetokenizeRequest,
                options, sequences=[pb.Tokens(ids=ids) for ids in sequences])


def models(options: Any) -> Call[list[pb.Model]]:
    return call("ListModels", pb.ListModelsResponse,
                lambda answer: list(answer.models), pb.ListModelsRequest,
                options)


def model(name: str, options: Any) -> Call[pb.Model]:
    return call("GetModel", pb.Model, lambda answer: answer,
                pb.GetModelRequest, options, name=name)


def load_model(name: str, version: int, options: Any) -> Call[pb.Model]:
    return _admin(call("LoadModel", pb.LoadModelResponse,
                       lambda answer: answer.model, pb.LoadModelRequest,
                       options, name=name, version=version))


def unload_model(name: str, options: Any) -> Call[None]:
    return _admin(call("UnloadModel", pb.UnloadModelResponse,
                       lambda answer: None, pb.UnloadModelRequest, options,
                       name=name))


def set_alias(name: str, targets: Mapping[str, int],
              options: Any) -> Call[None]:
    return _admin(call("SetAlias", pb.SetAliasResponse, lambda answer: None,
                       pb.SetAliasRequest, options, name=name,
                       targets=[pb.AliasTarget(model=model, weight=weight)
                                for model, weight in targets.items()]))


def profile(seconds: float, options: Any) -> Call[bytes]:
    request = pb.ProfileRequest()
    request.duration.FromNanoseconds(round(seconds * 1e9))
    made = _admin(call("Profile", pb.ProfileChunk,
                       lambda chunks: b"".join(c.trace for c in chunks),
                       pb.ProfileRequest, options, duration=request.duration))
    return replace(made, in_pieces=True)


def _admin(of_admin: Call[Result]) -> Call[Result]:
    return replace(of_admin, service="Admin")
