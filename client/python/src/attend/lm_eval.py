"""Evaluates a model of an Attend server with EleutherAI's
lm-evaluation-harness.

    pip install './client/python[lm-eval]'
    python -m attend.lm_eval --model attend \\
        --model_args address=localhost:50051 --tasks hellaswag

All options are those of the harness; --model_args are the arguments of
AttendLM. In Python code, `import attend.lm_eval` tells the harness of the model
"attend".

The server tokenises texts in the way of the harness' model "hf": it tokenises
a context and its continuation as one text, and what comes after the tokens of
the context is the continuation.
"""

from __future__ import annotations

import concurrent.futures
import functools
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, TypeVar

from attend import results
from attend._client import Client
from attend._inputs import chat, tokens
from attend.options import Params

if TYPE_CHECKING:
    LM: Any
    register_model: Any
else:
    try:
        import lm_eval.models  # noqa: F401, tells the harness of its own
        from lm_eval.api.model import LM
        from lm_eval.api.registry import register_model
    except ImportError:  # AttendLM can be called without the harness
        LM, register_model = object, lambda name: lambda kind: kind

T = TypeVar("T")
Result = TypeVar("Result")
MAX_STOP_STRINGS, MAX_STOP_BYTES = 16, 256  # of GenerationParams
LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens",
           "max_completion_tokens")
# Parameters of tasks that have the same name in GenerationParams.
SAMPLING = {"top_k": int, "top_p": float, "min_p": float, "num_beams": int,
            "repetition_penalty": float, "no_repeat_ngram_size": int,
            "seed": int}


def rolling_windows(ids: list[int], prefix: int,
                    length: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yields (context, tokens to score after it) for a model that computes
    `length` tokens. Each token is scored once. The last window has as much
    context as fits."""
    for begin in range(0, len(ids), length):
        end = min(begin + length, len(ids))
        context = ids[end - length - 1:begin] if begin else [prefix]
        yield context, ids[begin:end]


@register_model("attend")
class AttendLM(LM):  # type: ignore[misc]
    """A model of an Attend server that continues text (a decoder alone).

    address: HOST:PORT; default: $ATTEND_ADDRESS, else localhost:50051.
    model: name of the model; default: the server's default model.
    max_length: the most tokens of context and continuation together; default:
        the limit of the model.
    max_gen_toks: the most new tokens, for tasks that do not say.
    prefix_token_id: the token before a text without context; default: the
        token that begins a text, else the one that ends it.
    inputs_per_call: inputs of one call; two calls run at once. The server
        makes batches of its own, so batch_size and device are ignored.
    timeout: seconds for each call.
    tls, ca, cert, key, server_name, token: as those of attend.Client.
    """

    def __init__(self, address: str | None = None, model: str = "",
                 max_length: int | None = None, max_gen_toks: int = 256,
                 prefix_token_id: int | None = None,
                 inputs_per_call: int = 64, timeout: float = 600,
                 batch_size: object = None, max_batch_size: object = None,
                 device: object = None, **connection: Any) -> None:
        super().__init__()
        self.client = Client(address, timeout=float(timeout), model=model,
                             **connection)
        self.inputs_per_call = int(inputs_per_call)
        self.model = self.client.model(model)
        if not self.model.continues_source:
            raise ValueError(
                f"model '{self.model.name}' does not continue text")
        self.max_length = int(max_length or self.model.max_target_tokens)
        self.max_gen_toks = int(max_gen_toks)
        if prefix_token_id is not None:
            self.prefix_token_id = int(prefix_token_id)
        elif self.model.HasField("bos_id"):
            self.prefix_token_id = self.model.bos_id
        else:
            self.prefix_token_id = self.model.eos_ids[0]
        self.prefix_text, = self.client.detokenize(
            [[self.prefix_token_id]], keep_special_tokens=True)

    # The methods that the harness calls. They read only `args` of a request.

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False,
                      ) -> list[tuple[float, bool]]:
        """For each (context, continuation): its log-probability, and whether
        greedy search would give it."""
        pairs = [request.args for request in requests]
        texts = [split_off_spaces(*pair) for pair in pairs]
        ids = self.encode({text for context, continuation in texts if context
                           for text in (context, context + continuation)})
        bare = self.encode({continuation for context, continuation in texts
                            if not context}, special=False)
        scored = []
        for context, continuation in texts:
            if context:
                before = ids[context]
                after = ids[context + continuation][len(before):]
            else:
                before, after = [self.prefix_token_id], bare[continuation]
                if after[:1] == before:
                    after = after[1:]
            scored.append((before, after))
        return self.score(scored)

    def loglikelihood_rolling(self, requests: list[Any],
                              disable_tqdm: bool = False) -> list[float]:
        """For each (text,): the log-probability of all its tokens."""
        texts = [request.args[0] for request in requests]
        ids = self.encode(set(texts))
        windows = [list(rolling_windows(ids[text], self.prefix_token_id,
                                        self.max_length)) for text in texts]
        scores = iter(self.score([pair for of_text in windows
                                  for pair in of_text]))
        return [sum(next(scores)[0] for _ in of_text) for of_text in windows]

    def generate_until(self, requests: list[Any],
                       disable_tqdm: bool = False) -> list[str]:
        """For each (context, parameters): the text that follows."""
        ids = self.encode({request.args[0] for request in requests})
        # A call has one set of parameters: they, and the inputs that have it.
        calls: dict[str, tuple[Params, list[tuple[int, list[str], Any]]]] = {}
        for index, request in enumerate(requests):
            context, arguments = request.args
            until, params = self.read_arguments(arguments)
            room = self.max_length - params["max_new_tokens"]
            if room < 1:
                raise ValueError(
                    f"max_gen_toks is {params['max_new_tokens']}, must be less "
                    f"than {self.max_length} (max_length)")
            source = tokens(ids[context][-room:])
            _, inputs = calls.setdefault(repr(sorted(params.items())),
                                         (params, []))
            inputs.append((index, until, source))
        texts = [""] * len(requests)
        for params, inputs in calls.values():
            found = self.in_parts(
                functools.partial(self.client.generate, **params),
                [source for _, _, source in inputs])
            for (index, until, _), result in zip(inputs, found):
                texts[index] = cut(result.text, until)
        return texts

    def apply_chat_template(self, chat_history: list[dict[str, str]],
                            add_generation_prompt: bool = True) -> str:
        """The text that the model's chat template makes of messages. Without
        add_generation_prompt it ends with the content of the last message."""
        messages = [{name: message[name] for name in ("role", "content")}
                    for message in chat_history]
        conversation = chat(messages,
                            no_generation_prompt=not add_generation_prompt)
        result, = self.client.tokenize(chats=[conversation.chat])
        if add_generation_prompt:
            return result.text
        last = messages[-1]["content"].strip()
        return result.text[:result.text.rindex(last) + len(last)]

    @property
    def tokenizer_name(self) -> str:
        return f"attend-{self.model.name}"

    # What these methods share.

    def encode(self, texts: Iterable[str],
               special: bool | None = None) -> dict[str, list[int]]:
        """{text: ids}. `special`: whether to add the model's special tokens;
        None: unless a text begins with the first of them already."""
        ids: dict[str, list[int]] = {}
        groups: dict[bool, list[str]] = {}
        for text in texts:
            bare = (text.startswith(self.prefix_text) if special is None
                    else not special)
            groups.setdefault(bare, []).append(text)
        for bare, group in groups.items():
            found = self.in_parts(
                functools.partial(self.client.tokenize,
                                  no_special_tokens=bare), group)
            ids.update(zip(group, (result.ids for result in found)))
        return ids

    def score(self, pairs: list[tuple[list[int], list[int]]],
              ) -> list[tuple[float, bool]]:
        """For each (ids, ids that follow): the log-probability of those that
        follow, and whether each of them is the likeliest."""
        inputs = []
        for before, after in pairs:
            if not before or not 0 < len(after) <= self.max_length:
                raise ValueError(
                    f"a continuation has {len(after)} tokens after "
                    f"{len(before)}: must have 1 to {self.max_length} after at "
                    "least 1")
            # The last token is not computed. A long context loses its start.
            ids = (before + after)[-(self.max_length + 1):]
            source = min(len(ids) - len(after), self.model.max_source_tokens)
            inputs.append((tokens(ids[:source]), tokens(ids[source:])))
        found = self.in_parts(
            lambda part: self.client.score(part, top_log_probs=1), inputs)
        return [of_the_last(result, len(after))
                for (_, after), result in zip(pairs, found)]

    def in_parts(self, call: Callable[[list[T]], list[Result]],
                 inputs: list[T]) -> list[Result]:
        """The results of inputs, in order. Each call has a part of them."""
        parts = [inputs[i:i + self.inputs_per_call]
                 for i in range(0, len(inputs), self.inputs_per_call)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return [result for found in pool.map(call, parts)
                    for result in found]

    def read_arguments(self, arguments: dict[str, Any],
                       ) -> tuple[list[str], Params]:
        """(strings that end a text, parameters) for a task's
        generation_kwargs."""
        rest = dict(arguments)
        until = rest.pop("until", None) or []
        until = [until] if isinstance(until, str) else until
        lengths = [rest.pop(name, None) for name in LENGTHS]
        length = next((n for n in lengths if n is not None), self.max_gen_toks)
        temperature = float(rest.pop("temperature", 0))
        params = Params(
            max_new_tokens=int(length), num_beams=1, num_return_sequences=1,
            do_sample=rest.pop("do_sample", temperature > 0), stop_strings=[
                text for text in until
                if 0 < len(text.encode()) <= MAX_STOP_BYTES][:MAX_STOP_STRINGS])
        if params["do_sample"]:
            params["temperature"] = temperature
        sampling: Any = {}
        for name, value in rest.items():
            if name not in SAMPLING:
                raise ValueError(
                    f"generation_kwargs has '{name}', must be one of until, "
                    f"temperature, do_sample, {', '.join(LENGTHS)}, "
                    f"{', '.join(SAMPLING)}")
            sampling[name] = SAMPLING[name](value)
        params.update(sampling)
        return until, params


def split_off_spaces(context: str, continuation: str) -> tuple[str, str]:
    """Moves spaces from the end of the context to the continuation: in most
    vocabularies a word begins with its space."""
    end = len(context.rstrip())
    return context[:end], context[end:] + continuation


def of_the_last(result: results.Score, count: int) -> tuple[float, bool]:
    """The log-probability of the last tokens, and whether greedy search would
    give them."""
    last = result.message.tokens[-count:]
    return (float(sum(entry.token.log_prob for entry in last)),
            all(entry.top[0].id == entry.token.id for entry in last))


def cut(text: str, until: Iterable[str]) -> str:
    """The text before the first of the strings `until` in it."""
    for stop in until:
        if stop:
            text = text.split(stop)[0]
    return text


if __name__ == "__main__":
    from lm_eval.__main__ import cli_evaluate
    cli_evaluate()
