"""The keyword arguments of the methods. docs/api.md has their meaning: those
without a comment are fields of the request or of GenerationParams."""

from __future__ import annotations

from typing import Any, Iterable, Literal, Mapping, Sequence, TypedDict

from attend._cancellation import Cancellation

Aligned = Literal["none", "hard", "soft"]


class CallOptions(TypedDict, total=False):
    """Of every method."""

    timeout: float | None  # seconds, all attempts together; None: no limit
    metadata: Iterable[tuple[str, str]]  # more of it, as x-request-id
    traceparent: str  # W3C's; default: OpenTelemetry's current span
    cancellation: Cancellation | None  # of attend.Client alone


class ModelOptions(CallOptions, total=False):
    model: str  # default: that of the client, else that of the server


class InputOptions(ModelOptions, total=False):
    priority: int
    truncate: bool


class Params(TypedDict, total=False):
    """GenerationParams. A message may be given as a dict of its fields."""

    max_new_tokens: int
    min_new_tokens: int
    num_beams: int
    num_return_sequences: int
    length_penalty: float
    early_stopping: bool | Literal["never"]
    do_sample: bool
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    seed: int
    repetition_penalty: float
    presence_penalty: float
    frequency_penalty: float
    no_repeat_ngram_size: int
    bad_words: Sequence[Any]
    prefix_text: str
    prefix_tokens: Any
    stop_ids: Iterable[int]
    stop_strings: Iterable[str]
    log_probs: bool
    top_log_probs: int
    prompt_log_probs: bool
    echo: bool
    constraint: Any  # {"regex": "[0-9]+"}, {"json_schema": "..."}
    logit_bias: Mapping[int, float]
    suppress_tokens: Iterable[int]
    begin_suppress_tokens: Iterable[int]
    sequence_bias: Sequence[Any]
    force_words: Sequence[Any]
    cache_salt: str


class GenerateOptions(InputOptions, Params, total=False):
    source_language: str
    target_language: str
    alignments: Aligned


class TranslateOptions(ModelOptions, Params, total=False):
    format: Literal["text", "html", "xml", "markdown"]
    source_language: str
    target_language: str
    alternatives: int
    glossary: Mapping[str, str]  # term: its translation
    alignments: Aligned
    priority: int


class ScoreOptions(InputOptions, total=False):
    top_log_probs: int
    source_language: str
    target_language: str
    alignments: Aligned


class EmbedOptions(InputOptions, total=False):
    dimensions: int
    normalize: bool
    prompt_name: str
    prompt_text: str
    role: Literal["query", "document"]


class ClassifyOptions(InputOptions, total=False):
    top_k: int
    raw_scores: bool
    aggregation: Literal["none", "simple", "first", "average", "max"]
    ignore_labels: Sequence[str]
    stride: int
    candidate_labels: Sequence[str]
    hypothesis_template: str
    multi_label: bool


class AnswerOptions(ModelOptions, total=False):
    top_k: int
    max_answer_tokens: int
    max_window_tokens: int
    window_overlap: int
    allow_no_answer: bool
    split_words: bool
    priority: int


class FillMaskOptions(InputOptions, total=False):
    top_k: int


class RerankOptions(InputOptions, total=False):
    top_n: int
    raw_scores: bool


class TokenizeOptions(ModelOptions, total=False):
    side: Literal["source", "target"]
    no_special_tokens: bool
    chats: Sequence[Any]  # attend.v1.Chat


class DetokenizeOptions(ModelOptions, total=False):
    side: Literal["source", "target"]
    keep_special_tokens: bool
