"""A stream that broke off: how it goes on where it ended."""

from __future__ import annotations

import random
from typing import Any, Mapping

import grpc

from attend.errors import AttendError, error_of
from attend.v1 import attend_pb2 as pb

# With these set the rest of a result is not what a result is that begins with
# the tokens so far, or text may be held back.
NOT_CONTINUED = {"do_sample", "presence_penalty", "frequency_penalty", "echo",
                 "prompt_log_probs"}
NOT_CONTINUED_LISTS = ("begin_suppress_tokens", "stop_strings")


class Replay:
    """The text of a stream, which may have been made several times. Results are
    the same each time, whatever else the servers do, if they are not sampled;
    see with_seed(). A stream is made again

    * by its tokens so far as forced prefix: they are not computed again one by
      one. For models that continue text, by greedy search;
    * else from its beginning, and what has been seen is left out.
    """

    def __init__(self) -> None:
        self._seen = ""
        self._at = 0  # the length of the current attempt's text
        self._known = 0  # of what was seen, before the current attempt
        self._ids: list[int] = []
        self._ended = False

    @property
    def begun(self) -> bool:
        return bool(self._seen)

    def went_on(self) -> bool:
        """Whether the attempt that has failed brought something new."""
        known, self._known = self._known, len(self._seen)
        return self._known > known

    def new(self, part: str, message: Any) -> str:
        """What of the next part, the text of this message, has not been seen.
        Raises Unavailable if the text is not what it was: another version of
        the model, perhaps."""
        known = self._seen[self._at:self._at + len(part)]
        self._at += len(part)
        if not part.startswith(known):
            raise _another_text()
        self._seen += part[len(known):]
        if isinstance(message, pb.GenerateChunk):
            self._ids += message.ids
            self._ended = self._ended or message.finish_reason != 0
        return part[len(known):]

    def end(self) -> None:
        """The stream has ended well. Raises Unavailable if that was too early.
        """
        if self._at < len(self._seen):
            raise _another_text()

    def may_continue(self, request: Any) -> bool:
        """Whether it depends on the model alone that a forced prefix will do.
        """
        return (isinstance(request, pb.GenerateRequest) and bool(self._ids)
                and not self._ended
                and request.params.HasField("max_new_tokens")
                and not request.params.HasField("constraint")
                and request.params.WhichOneof("forced_prefix") is None)

    def again(self, request: Any, model: pb.Model | None) -> Any:
        """The request of the next attempt. `model`: if it may continue."""
        if model is not None and self._continues(request.params, model):
            again = pb.GenerateRequest()
            again.CopyFrom(request)
            params = again.params
            params.prefix_tokens.ids.extend(self._ids)
            if params.max_new_tokens:  # 0: as many as there is room for
                params.max_new_tokens -= len(self._ids)
            least = _value(params, model, "min_new_tokens")
            params.min_new_tokens = max(0, least - len(self._ids))
            return again
        self._at, self._ids = 0, []
        return request

    def _continues(self, params: pb.GenerationParams, model: pb.Model) -> bool:
        left = params.max_new_tokens - len(self._ids)
        return (model.continues_source
                and (left > 0 or not params.max_new_tokens)
                and self._ids[-1] not in (*model.eos_ids, *params.stop_ids)
                and all(_value(params, model, name) == 1
                        for name in ("num_beams", "num_return_sequences"))
                and not any(_value(params, model, name)
                            for name in NOT_CONTINUED)
                and not any(len(getattr(one, name))
                            for one in (params, model.defaults)
                            for name in NOT_CONTINUED_LISTS))


def _another_text() -> AttendError:
    return error_of(grpc.StatusCode.UNAVAILABLE, "the stream broke off, and "
                    "has another text when it is made again")


def _value(params: pb.GenerationParams, model: pb.Model, name: str) -> Any:
    return getattr(params if params.HasField(name) else model.defaults, name)


def with_seed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Draws the seed here that the server would draw, so that a second attempt
    has the same. It does nothing where results are not sampled."""
    return {"seed": random.getrandbits(63), **options}
