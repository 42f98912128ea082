"""What the methods return. `message` is what the server sent, with all else
that docs/api.md lists: log-probabilities, alignments, usage, timings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, TypeVar

import numpy
import numpy.typing

from attend.errors import AttendError, error_of
from attend.v1 import attend_pb2 as pb

Vectors = numpy.typing.NDArray[numpy.float32]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Generation:
    """The result of generate(); several `texts` if they were asked for."""

    text: str  # the best
    texts: list[str]  # best first
    ids: list[int]  # of the best
    finish_reason: str  # of the best: "eos", "max_length", "stop_sequence"
    score: float  # of the best
    message: pb.GenerateResult = field(repr=False)


@dataclass(frozen=True)
class Translation:
    text: str
    alternatives: list[str]
    message: pb.Translation = field(repr=False)


@dataclass(frozen=True)
class Score:
    log_prob: float  # the sum
    log_probs: list[float]  # of each token of the target
    ids: list[int]  # of the target
    message: pb.ScoreResult = field(repr=False)


@dataclass(frozen=True)
class LabelledToken:
    """Covers bytes [begin, end) of the text in UTF-8."""

    piece: str
    begin: int
    end: int
    labels: dict[str, float]  # best first


@dataclass(frozen=True)
class LabelledSpan:
    """Covers bytes [begin, end) of the text in UTF-8."""

    label: str
    score: float
    text: str
    begin: int
    end: int


@dataclass(frozen=True)
class Classification:
    """`labels` of models that label texts, and of candidate_labels; else
    `tokens` or, with aggregation, `spans`."""

    labels: dict[str, float]  # best first
    tokens: list[LabelledToken]
    message: pb.ClassifyResult = field(repr=False)
    spans: list[LabelledSpan] = field(default_factory=list)


@dataclass(frozen=True)
class Answer:
    """Covers bytes [begin, end) of the context in UTF-8. Empty: no answer."""

    text: str
    score: float
    begin: int
    end: int


@dataclass(frozen=True)
class Candidate:
    piece: str
    log_prob: float


@dataclass(frozen=True)
class FilledText:
    text: str  # each mask filled in with its best candidate
    masks: list[list[Candidate]]  # of each mask, best first
    message: pb.FillMaskResult = field(repr=False)


@dataclass(frozen=True)
class Ranked:
    index: int  # of the document in the request
    score: float
    document: str


@dataclass(frozen=True)
class Tokenization:
    ids: list[int]
    pieces: list[str]  # one for each id
    text: str  # of a chat: what the template makes of it


def read_all(results: Iterable[Any], read: Callable[[Any], Result],
             index_of: Callable[[int, Any], int] = lambda place, result: place,
             ) -> list[Result]:
    """Each result, or the error of the first input that failed."""
    found: list[Any] = []
    first: AttendError | None = None
    for place, result in enumerate(results):
        if result.status.code == 0:
            found.append(read(result))
            continue
        error = error_of(result.status.code, result.status.message)
        error.index = index_of(place, result)
        found.append(error)
        first = first or error
    if first is not None:
        first.results = found
        raise first
    return found


def generation(result: pb.GenerateResult) -> Generation:
    best = result.choices[0] if result.choices else pb.Choice()
    reason = pb.FinishReason.Name(best.finish_reason)
    return Generation(
        best.text, [choice.text for choice in result.choices], list(best.ids),
        reason[len("FINISH_REASON_"):].lower(), best.score, result)


def translation(result: pb.Translation) -> Translation:
    return Translation(result.text, list(result.alternatives), result)


def score(result: pb.ScoreResult) -> Score:
    tokens = [entry.token for entry in result.tokens]
    return Score(result.log_prob, [token.log_prob for token in tokens],
                 [token.id for token in tokens], result)


def labels_of(scores: Iterable[pb.LabelScore]) -> dict[str, float]:
    return {label.label: label.score for label in scores}


def classification(result: pb.ClassifyResult) -> Classification:
    return Classification(
        labels_of(result.labels),
        [LabelledToken(entry.token.piece, entry.token.begin, entry.token.end,
                       labels_of(entry.labels)) for entry in result.tokens],
        result,
        [LabelledSpan(span.label, span.score, span.text, span.begin, span.end)
         for span in result.spans])


def answers(result: pb.AnswerResult) -> list[Answer]:
    return [Answer(answer.text, answer.score, answer.begin, answer.end)
            for answer in result.answers]


def filled_text(result: pb.FillMaskResult) -> FilledText:
    return FilledText(
        result.text,
        [[Candidate(candidate.token.piece, candidate.token.log_prob)
          for candidate in mask.candidates] for mask in result.masks], result)


def tokenization(result: pb.Tokenization) -> Tokenization:
    return Tokenization(list(result.ids), list(result.pieces), result.text)


def vectors(result: pb.EmbedResult) -> Vectors:
    """[vectors, width]; read-only, on the bytes of the message."""
    numbers = numpy.frombuffer(result.data, "<f4").astype(
        numpy.float32, copy=False)
    return numbers.reshape(-1, result.width)


def weights(result: pb.EmbedResult) -> dict[int, float]:
    return dict(zip(result.sparse.ids, result.sparse.weights))


def multi_vector(result: pb.EmbedResult) -> Vectors:
    """[vectors, width]; read-only, on the bytes of the message."""
    numbers = numpy.frombuffer(result.multi_vector.data, "<f4").astype(
        numpy.float32, copy=False)
    return numbers.reshape(-1, result.multi_vector.width)


def matrix(answer: pb.EmbedResponse) -> Vectors:
    """[inputs, width]"""
    return numpy.concatenate(read_all(answer.results, vectors))


def ranking(answer: pb.RerankResponse, documents: list[str]) -> list[Ranked]:
    return read_all(
        answer.results, lambda result: Ranked(result.index, result.score,
                                              documents[result.index]),
        lambda place, result: int(result.index))
