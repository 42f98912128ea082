"""The client for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Iterable, Mapping, TypeVar)

import grpc
import grpc.aio

from attend import _calls, results
from attend._affinity import elsewhere
from attend._inputs import Input, Inputs
from attend._replay import Replay
from attend._retry import Attempts
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
    """attend.Client for one event loop: `await client.generate(...)`,
    `async for part in client.stream(...)`. Cancelling a task cancels its call.
    """

    def _open(self) -> None:
        self._channels: dict[str, Any] = {}

    def _channel(self, service: str) -> Any:
        """It belongs to the loop that runs when it is first used."""
        if service not in self._channels:
            options = self._options_for(service)
            self._channels[service] = (
                grpc.aio.insecure_channel(self._target, options)
                if self._credentials is None else
                grpc.aio.secure_channel(self._target, self._credentials,
                                        options))
        return self._channels[service]

    async def close(self) -> None:
        """Ends the calls that run, and the connections."""
        for channel in self._channels.values():
            await channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def generate(
            self, inputs: Inputs, **options: Unpack[GenerateOptions]
    ) -> list[results.Generation]:
        """Continues texts, answers chats, or translates sentences."""
        return await self._unary(_calls.generate(
            inputs, self._of_model(options)))

    async def translate(
            self, documents: str | Iterable[str],
            **options: Unpack[TranslateOptions]
    ) -> list[results.Translation]:
        """Translates documents of any number of sentences: text, HTML, XML, Markdown."""
        return await self._unary(_calls.translate(
            documents, self._of_model(options)))

    async def score(
            self, pairs: Iterable[tuple[str | Input, str | Input]],
            **options: Unpack[ScoreOptions]
    ) -> list[results.Score]:
        """The log-probability of the second of each pair after the first."""
        return await self._unary(_calls.score(pairs, self._of_model(options)))

    async def embed(
            self, inputs: Inputs, **options: Unpack[EmbedOptions]
    ) -> results.Vectors:
        """A vector of each input: f32, shape [inputs, width]."""
        return await self._unary(_calls.embed(inputs, self._of_model(options)))

    async def embed_tokens(
            self, inputs: Inputs, **options: Unpack[InputOptions]
    ) -> list[results.Vectors]:
        """The vectors of each input's tokens: f32, shape [tokens, width]."""
        return await self._unary(_calls.embed_tokens(
            inputs, self._of_model(options)))

    async def embed_sparse(
            self, inputs: Inputs, **options: Unpack[EmbedOptions]
    ) -> list[dict[int, float]]:
        """The weights of tokens of each input, by id (SPLADE, BGE-M3)."""
        return await self._unary(_calls.embed_sparse(
            inputs, self._of_model(options)))

    async def embed_multi_vector(
            self, inputs: Inputs, **options: Unpack[EmbedOptions]
    ) -> list[results.Vectors]:
        """The vectors of each input that MaxSim compares (ColBERT): f32, shape
        [vectors, width]."""
        return await self._unary(_calls.embed_multi_vector(
            inputs, self._of_model(options)))

    async def classify(
            self, inputs: Inputs, **options: Unpack[ClassifyOptions]
    ) -> list[results.Classification]:
        """Labels texts, pairs of texts, or the tokens of texts."""
        return await self._unary(_calls.classify(
            inputs, self._of_model(options)))

    async def fill_mask(
            self, inputs: Inputs, **options: Unpack[FillMaskOptions]
    ) -> list[results.FilledText]:
        """Finds tokens for the masks in texts."""
        return await self._unary(_calls.fill_mask(
            inputs, self._of_model(options)))

    async def answer(
            self, questions: Iterable[tuple[str, str]],
            **options: Unpack[AnswerOptions]
    ) -> list[list[results.Answer]]:
        """The answers in texts to questions, of each (question, text) the best
        first."""
        return await self._unary(_calls.answer(
            questions, self._of_model(options)))

    async def rerank(
            self, query: str, documents: Iterable[str],
            **options: Unpack[RerankOptions]
    ) -> list[results.Ranked]:
        """Documents, those first that answer the query best."""
        return await self._unary(_calls.rerank(
            query, documents, self._of_model(options)))

    async def tokenize(
            self, texts: str | Iterable[str] = (),
            **options: Unpack[TokenizeOptions]
    ) -> list[results.Tokenization]:
        """The token ids of texts, then of `chats`."""
        return await self._unary(_calls.tokenize(
            texts, self._of_model(options)))

    async def detokenize(
            self, sequences: Iterable[Iterable[int]],
            **options: Unpack[DetokenizeOptions]
    ) -> list[str]:
        """The texts of lists of token ids."""
        return await self._unary(_calls.detokenize(
            sequences, self._of_model(options)))

    async def models(self, **options: Unpack[CallOptions]) -> list[pb.Model]:
        """The models of the server, the default model first."""
        return await self._unary(_calls.models(options))

    async def model(
            self, name: str = "", **options: Unpack[CallOptions]
    ) -> pb.Model:
        """A model of the server; without a name its default model."""
        return await self._unary(_calls.model(name, options))

    async def load_model(
            self, name: str, version: int = 0, **options: Unpack[CallOptions]
    ) -> pb.Model:
        """Loads a model, or loads it anew; `version` 0: the highest. Needs a
        server with --model-control=explicit, and time: see `timeout`."""
        return await self._unary(_calls.load_model(name, version, options))

    async def unload_model(
            self, name: str, **options: Unpack[CallOptions]
    ) -> None:
        """Takes a model out of service. Calls that run go on."""
        await self._unary(_calls.unload_model(name, options))

    async def set_alias(
            self, name: str, targets: Mapping[str, int],
            **options: Unpack[CallOptions]
    ) -> None:
        """Lets calls of a name go to models, {model: weight}; no targets: the
        name is no alias any more."""
        await self._unary(_calls.set_alias(name, targets, options))

    async def profile(
            self, seconds: float = 5, **options: Unpack[CallOptions]
    ) -> bytes:
        """Records what the server computes, at most 60 s: JSON for
        ui.perfetto.dev. `timeout` is of what comes after that time."""
        return await self._unary(_calls.profile(
            seconds, self._longer(options, seconds)))

    def stream(
            self, source: str | Input, **options: Unpack[GenerateOptions]
    ) -> AsyncIterator[str]:
        """Yields what generate() returns in parts, as they are computed."""
        return self._stream(_calls.stream(source, self._of_model(options)))

    def translate_stream(
            self, document: str, **options: Unpack[TranslateOptions]
    ) -> AsyncIterator[str]:
        """Yields the translation of a document, sentence by sentence."""
        return self._stream(_calls.translate_stream(
            document, self._of_model(options)))

    def _attempts(self, call: _calls.Call[Any]) -> Attempts:
        if "cancellation" in call.options:
            raise TypeError(f"{call.method} of attend.aio has no option "
                            "'cancellation': cancel the task")
        return super()._attempts(call)

    async def _unary(self, call: _calls.Call[Result]) -> Result:
        method = self._method(call)
        attempts = self._attempts(call)
        metadata = self._metadata_of(call)

        def send(second: bool) -> Any:
            return method(call.request, timeout=attempts.timeout(),
                          metadata=attempts.metadata(
                              elsewhere(metadata) if second else metadata))

        while True:
            try:
                answer = await self._hedge_of(call).first_answer_async(send)
                break
            except grpc.RpcError as error:
                pause = attempts.pause(error)
            await asyncio.sleep(pause)
        return call.read(answer)

    def _method(self, call: _calls.Call[Any]) -> Any:
        """Of gRPC. If the answer comes in pieces it waits for all of them."""
        channel = self._channel(call.service)
        if not call.in_pieces:
            return channel.unary_unary(
                call.path, call.serialize, call.answer.FromString)
        method = channel.unary_stream(
            call.path, call.serialize, call.answer.FromString)

        async def all_pieces(*given: Any, **named: Any) -> list[Any]:
            running = method(*given, **named)
            try:
                return [piece async for piece in running]
            finally:
                running.cancel()  # does nothing to one that has ended
        return lambda *given, **named: asyncio.ensure_future(
            all_pieces(*given, **named))

    async def _stream(self, call: _calls.Call[str]) -> AsyncIterator[str]:
        """Closing the iterator cancels the call. It begins with the first part
        that is asked for."""
        method = self._channel(call.service).unary_stream(
            call.path, call.serialize, call.answer.FromString)
        attempts = self._attempts(call)
        metadata = self._metadata_of(call)
        replay = Replay()
        request: Any = call.request
        while True:
            running = method(request, timeout=attempts.timeout(),
                             metadata=attempts.metadata(metadata))
            try:
                async for message in running:
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
            await asyncio.sleep(pause)
            model = None
            if replay.may_continue(call.request):
                with contextlib.suppress(AttendError):
                    model = await self.model(request.model,
                                             timeout=attempts.timeout())
            request = replay.again(call.request, model)
