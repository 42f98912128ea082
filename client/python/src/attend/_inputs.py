"""What goes into a model."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Union

from attend.v1 import attend_pb2 as pb

Input = pb.Input
# One input or several. A text that is alone is a batch of one.
Inputs = Union[str, pb.Input, Iterable[Union[str, pb.Input]]]


def tokens(ids: Iterable[int]) -> pb.Input:
    """An input of token ids, special tokens included."""
    return pb.Input(tokens=pb.Tokens(ids=ids))


def pair(first: str, second: str) -> pb.Input:
    """A pair of texts, for classify()."""
    return pb.Input(text=first, pair=second)


def chat(messages: Iterable[Mapping[str, str]], **more: Any) -> pb.Input:
    """A conversation: {"role": ..., "content": ...} of each message. `more` are
    the other fields of attend.v1.Chat."""
    return pb.Input(chat=pb.Chat(
        messages=[pb.ChatMessage(**message) for message in messages], **more))


def input_of(value: str | pb.Input) -> pb.Input:
    return pb.Input(text=value) if isinstance(value, str) else value


def inputs_of(inputs: Inputs) -> list[pb.Input]:
    if isinstance(inputs, (str, pb.Input)):
        inputs = [inputs]
    return [input_of(value) for value in inputs]


def texts_of(texts: str | Iterable[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)
