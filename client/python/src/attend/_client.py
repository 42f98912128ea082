"""The client whose methods wait for their answers."""

from __future__ import annotations

import contextlib
from typing import (
    TYPE_CHECKING, Any, Iterable, Iterator, Mapping, TypeVar)

import grpc

from attend import _calls, results
from attend._affinity import elsewhere
from attend._cancellation import Cancellation, answer_of, sleep, started
from attend._inputs import Input, Inputs
from attend._replay import Replay
from attend._settings import Settings
from attend.errors import AttendError
from attend.v1 import attend_pb2 as pb

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from attend.options import (
        AnswerOptions, CallOptions, ClassifyOptions, DetokenizeOptions,
        EmbedOptions, FillMaskOptions, GenerateOptions, InputOptions,
        RerankOptions, ScoreOptions, TokenizeOptions, TranslateOptions)

Result = TypeVar("Result")


class Client(Settings):
    """Calls one or several servers of the same models. Threads may share it.

    A text that is alone is a batch of one; results are lists in the order of
    the inputs. The methods raise attend.AttendError; `**options` are listed in
    attend.options, and each may have a `timeout` in seconds.
    """

    def _open(self) -> None:
        self._channels = {service: self._channel(service)
                          for service in ("Attend", "Admin")}

    def _channel(self, service: str) -> grpc.Channel:
        options = self._options_for(service)
        if self._credentials is None:
            return grpc.insecure_channel(self._target, options)
        return grpc.secure_channel(self._target, self._credentials, options)

    def close(self) -> None:
        """Ends the calls that run, and the connections."""
        for channel in self._channels.values():
            channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def generate(
            self, inputs: Inputs, **options: Unpack[GenerateOptions]
    ) -> list[results.Generation]:
        """Continues texts, answers chats, or translates sentences."""
        return self._unary(_calls.generate(inputs, self._of_model(options)))

    def translate(
            self, documents: str | Iterable[str],
            **options: Unpack[TranslateOptions]
    ) -> list[results.Translation]:
        """Translates documents of any number of sentences: text, HTML, XML, Markdown."""
        return self._unary(_calls.translate(
            documents, self._of_model(options)))

    def score(
            self, pairs: Iterable[tuple[str | Input, str | Input]],
            **options: Unpack[ScoreOptions]
    ) -> list[results.Score]:
        """The log-probability of the second of each pair after the first."""
        return self._unary(_calls.score(pairs, self._of_model(options)))

    def embed(
            self, inputs: Inputs, **options: Unpack[EmbedOptions]
    ) -> results.Vectors:
        """A vector of each input: f32, shape [inputs, width]."""
        return self._unary(_calls.embed(inputs, self._of_model(options)))

    def embed_tokens(
            self, inputs: Inputs, **options: Unpack[InputOptions]
    ) -> list[results.Vectors]:
        """The vectors of each input's tokens: f32, shape [tokens, width]."""
        return self._unary(_calls.embed_tokens(
            inputs, self._of_model(options)))

    def embed_sparse(
            self, inputs: Inputs, **options: Unpack[EmbedOptions]
    ) -> list[dict[int, float]]:
        """The weights of tokens of each input, by id (SPLADE, BGE-M3)."""
        return self._unary(_calls.embed_sparse(
            inputs, self._of_model(options)))

    def embed_multi_vector(
            self, inputs: Inputs, **options: Unpack[EmbedOptions]
    ) -> list[results.Vectors]:
        """The vectors of each input that MaxSim compares (ColBERT): f32, shape
        [vectors, width]."""
        return self._unary(_calls.embed_multi_vector(
            inputs, self._of_model(options)))

    def classify(
            self, inputs: Inputs, **options: Unpack[ClassifyOptions]
    ) -> list[results.Classification]:
        """Labels texts, pairs of texts, or the tokens of texts."""
        return self._unary(_calls.classify(inputs, self._of_model(options)))

    def fill_mask(
            self, inputs: Inputs, **options: Unpack[FillMaskOptions]
    ) -> list[results.FilledText]:
        """Finds tokens for the masks in texts."""
        return self._unary(_calls.fill_mask(inputs, self._of_model(options)))

    def answer(
            self, questions: Iterable[tuple[str, str]],
            **options: Unpack[AnswerOptions]
    ) -> list[list[results.Answer]]:
        """The answers in texts to questions, of each (question, text) the best
        first."""
        return self._unary(_calls.answer(
            questions, self._of_model(options)))

    def rerank(
            self, query: str, documents: Iterable[str],
            **options: Unpack[RerankOptions]
    ) -> list[results.Ranked]:
        """Documents, those first that answer the query best."""
        return self._unary(_calls.rerank(
            query, documents, self._of_model(options)))

    def tokenize(
            self, texts: str | Iterable[str] = (),
            **options: Unpack[TokenizeOptions]
    ) -> list[results.Tokenization]:
        """The token ids of texts, then of `chats`."""
        return self._unary(_calls.tokenize(texts, self._of_model(options)))

    def detokenize(
            self, sequences: Iterable[Iterable[int]],
            **options: Unpack[DetokenizeOptions]
    ) -> list[str]:
        """The texts of lists of token ids."""
        return self._unary(_calls.detokenize(
            sequences, self._of_model(options)))

    def models(self, **options: Unpack[CallOptions]) -> list[pb.Model]:
        """The models of the server, the default model first."""
        return self._unary(_calls.models(options))

    def model(
            self, name: str = "", **options: Unpack[CallOptions]
    ) -> pb.Model:
        """A model of the server; without a name its default model."""
        return self._unary(_calls.model(name, options))

    def load_model(
            self, name: str, version: int = 0, **options: Unpack[CallOptions]
    ) -> pb.Model:
        """Loads a model, or loads it anew; `version` 0: the highest. Needs a
        server with --model-control=explicit, and time: see `timeout`."""
        return self._unary(_calls.load_model(name, version, options))

    def unload_model(
            self, name: str, **options: Unpack[CallOptions]
    ) -> None:
        """Takes a model out of service. Calls that run go on."""
        self._unary(_calls.unload_model(name, options))

    def set_alias(
            self, name: str, targets: Mapping[str, int],
            **options: Unpack[CallOptions]
    ) -> None:
        """Lets calls of a name go to models, {model: weight}; no targets: the
        name is no alias any more."""
        self._unary(_calls.set_alias(name, targets, options))

    def profile(
            self, seconds: float = 5, **options: Unpack[CallOptions]
    ) -> bytes:
        """Records what the server computes, at most 60 s: JSON for
        ui.perfetto.dev. `timeout` is of what comes after that time."""
        return self._unary(_calls.profile(
            seconds, self._longer(options, seconds)))

    def stream(
            self, source: str | Input, **options: Unpack[GenerateOptions]
    ) -> Iterator[str]:
        """Yields what generate() returns in parts, as they are computed."""
        return self._stream(_calls.stream(source, self._of_model(options)))

    def translate_stream(
            self, document: str, **options: Unpack[TranslateOptions]
    ) -> Iterator[str]:
        """Yields the translation of a document, sentence by sentence."""
        return self._stream(_calls.translate_stream(
            document, self._of_model(options)))

    def _unary(self, call: _calls.Call[Result]) -> Result:
        attempts = self._attempts(call)
        metadata = self._metadata_of(call)
        cancellation = self._cancellation_of(call)
        hedge = self._hedge_of(call)
        method: Any = self._method(call, cancellation)

        def send(second: bool) -> Any:
            return started(
                cancellation, method.future, call.request,
                timeout=attempts.timeout(),
                metadata=attempts.metadata(
                    elsewhere(metadata) if second else metadata))

        while True:
            try:
                if hedge.after is not None:
                    answer = hedge.first_answer(send)
                elif cancellation is not None and not call.in_pieces:
                    answer = answer_of(send(False))
                else:  # a future costs a thread's turn
                    answer = method(call.request, timeout=attempts.timeout(),
                                    metadata=attempts.metadata(metadata))
                break
            except grpc.RpcError as error:
                pause = attempts.pause(error)
            sleep(cancellation, pause)
        return call.read(answer)

    def _method(self, call: _calls.Call[Any],
                cancellation: Cancellation | None) -> Any:
        """Of gRPC. If the answer comes in pieces it waits for all of them."""
        channel = self._channels[call.service]
        if not call.in_pieces:
            return channel.unary_unary(
                call.path, call.serialize, call.answer.FromString)
        method: Any = channel.unary_stream(
            call.path, call.serialize, call.answer.FromString)
        return lambda *given, **named: list(
            started(cancellation, method, *given, **named))

    def _stream(self, call: _calls.Call[str]) -> Iterator[str]:
        """Closing the iterator cancels the call. It begins with the first part
        that is asked for."""
        method: Any = self._channels[call.service].unary_stream(
            call.path, call.serialize, call.answer.FromString)
        attempts = self._attempts(call)
        metadata = self._metadata_of(call)
        cancellation = self._cancellation_of(call)
        replay = Replay()
        request: Any = call.request
        while True:
            running = started(cancellation, method, request,
                              timeout=attempts.timeout(),
                              metadata=attempts.metadata(metadata))
            try:
                for message in running:
                    part = replay.new(call.read(message), message)
                    if part:
                        yield part
                replay.end()
                return
            except grpc.RpcError as error:
                pause = attempts.pause(error, replay.begun,
                                       replay.went_on())
            finally:
                running.cancel()
            sleep(cancellation, pause)
            model = None
            if replay.may_continue(call.request):
                with contextlib.suppress(AttendError):
                    model = self.model(request.model,
                                       timeout=attempts.timeout(),
                                       cancellation=cancellation)
            request = replay.again(call.request, model)
