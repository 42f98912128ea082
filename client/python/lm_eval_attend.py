#!/usr/bin/env python3
"""Evaluates a model of an Attend server with EleutherAI's lm-evaluation-harness.

    pip install -r client/python/requirements.txt lm-eval
    python -m grpc_tools.protoc -Iproto --python_out=. --grpc_python_out=. \\
        attend/v1/attend.proto
    python client/python/lm_eval_attend.py --model attend \\
        --model_args address=localhost:50051 --tasks hellaswag

All options are those of the harness; --model_args are the arguments of AttendLM.
In Python code, `import lm_eval_attend` tells the harness of the model "attend".

The server tokenises texts in the way of the harness' model "hf": it tokenises
a context and its continuation as one text, and what comes after the tokens of
the context is the continuation.
"""

import concurrent.futures
import os
import sys

import attend_channel

sys.path.insert(0, os.getcwd())  # where protoc wrote the stubs
from attend.v1 import attend_pb2 as pb  # noqa: E402
from attend.v1 import attend_pb2_grpc  # noqa: E402

try:
    import lm_eval.models  # noqa: F401, tells the harness of its own models
    from lm_eval.api.model import LM
    from lm_eval.api.registry import register_model
except ImportError:  # AttendLM can be called without the harness
    LM, register_model = object, lambda name: lambda kind: kind

MAX_STOP_STRINGS, MAX_STOP_BYTES = 16, 256  # of GenerationParams
LENGTHS = ("max_gen_toks", "max_new_tokens", "max_tokens",
           "max_completion_tokens")
# Parameters of tasks that have the same name in GenerationParams.
SAMPLING = {"top_k": int, "top_p": float, "min_p": float, "num_beams": int,
            "repetition_penalty": float, "no_repeat_ngram_size": int,
            "seed": int}


def rolling_windows(tokens, prefix, length):
    """Yields (context, tokens to score after it) for a model that computes
    `length` tokens. Each token is scored once. The last window has as much
    context as fits."""
    for begin in range(0, len(tokens), length):
        end = min(begin + length, len(tokens))
        context = tokens[end - length - 1:begin] if begin else [prefix]
        yield context, tokens[begin:end]


@register_model("attend")
class AttendLM(LM):
    """A model of an Attend server that continues text (a decoder alone).

    address: HOST:PORT; default: $ATTEND_ADDRESS, else localhost:50051.
    model: name of the model; default: the server's default model.
    max_length: the most tokens of context and continuation together; default:
        the limit of the model.
    max_gen_toks: the most new tokens, for tasks that do not say.
    prefix_token_id: the token before a text without context; default: the
        token that begins a text, else the one that ends it.
    inputs_per_call: inputs of one call; two calls run at once. The server makes
        batches of its own, so batch_size and device are ignored.
    timeout: seconds for each call.
    tls, ca, cert, key, server_name, token: as the options of translate.py.
    """

    def __init__(self, address=None, model="", max_length=None,
                 max_gen_toks=256, prefix_token_id=None, inputs_per_call=64,
                 timeout=600, batch_size=None, max_batch_size=None,
                 device=None, tls=None, ca=None, cert=None, key=None,
                 server_name=None, token=None):
        super().__init__()
        # The log-probabilities of many tokens exceed gRPC's default limit.
        self.channel = attend_channel.open_channel(
            address, tls=tls, ca=ca, cert=cert, key=key,
            server_name=server_name, token=token,
            options=[("grpc.max_receive_message_length", -1)])
        self.stub = attend_pb2_grpc.AttendStub(self.channel)
        self.timeout = float(timeout)
        self.inputs_per_call = int(inputs_per_call)
        self.model = self.stub.GetModel(pb.GetModelRequest(name=model),
                                        timeout=self.timeout)
        if not self.model.continues_source:
            raise ValueError(f"model '{self.model.name}' does not continue text")
        self.max_length = int(max_length or self.model.max_target_tokens)
        self.max_gen_toks = int(max_gen_toks)
        if prefix_token_id is not None:
            self.prefix_token_id = int(prefix_token_id)
        elif self.model.HasField("bos_id"):
            self.prefix_token_id = self.model.bos_id
        else:
            self.prefix_token_id = self.model.eos_ids[0]
        self.prefix_text = self.decode(self.prefix_token_id)

    # The methods that the harness calls. They read only `args` of a request.

    def loglikelihood(self, requests, disable_tqdm=False):
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

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        """For each (text,): the log-probability of all its tokens."""
        texts = [request.args[0] for request in requests]
        ids = self.encode(set(texts))
        windows = [list(rolling_windows(ids[text], self.prefix_token_id,
                                        self.max_length)) for text in texts]
        scores = iter(self.score([pair for of_text in windows
                                  for pair in of_text]))
        return [sum(next(scores)[0] for _ in of_text) for of_text in windows]

    def generate_until(self, requests, disable_tqdm=False):
        """For each (context, parameters): the text that follows."""
        ids = self.encode({request.args[0] for request in requests})
        calls = {}  # parameters -> inputs: a call has one set of parameters
        for index, request in enumerate(requests):
            context, arguments = request.args
            until, params = self.read_arguments(arguments)
            room = self.max_length - params.max_new_tokens
            if room < 1:
                raise ValueError(
                    f"max_gen_toks is {params.max_new_tokens}, must be less than "
                    f"{self.max_length} (max_length)")
            source = tokens_input(ids[context][-room:])
            calls.setdefault(params.SerializeToString(deterministic=True),
                             []).append((index, until, source))
        texts = [""] * len(requests)
        for serialized, inputs in calls.items():
            params = pb.GenerationParams.FromString(serialized)
            results = self.call(self.stub.Generate, [i[2] for i in inputs],
                                lambda part: pb.GenerateRequest(
                                    model=self.model.name, inputs=part,
                                    params=params))
            for (index, until, _), result in zip(inputs, results):
                texts[index] = cut(result.choices[0].text, until)
        return texts

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        """The text that the model's chat template makes of messages. Without
        add_generation_prompt it ends with the content of the last message."""
        messages = [pb.ChatMessage(role=message["role"],
                                   content=message["content"])
                    for message in chat_history]
        chat = pb.Chat(messages=messages,
                       no_generation_prompt=not add_generation_prompt)
        request = pb.TokenizeRequest(model=self.model.name, chats=[chat])
        text = checked(self.stub.Tokenize(
            request, timeout=self.timeout).results[0]).text
        if add_generation_prompt:
            return text
        last = messages[-1].content.strip()
        return text[:text.rindex(last) + len(last)]

    @property
    def tokenizer_name(self):
        return f"attend-{self.model.name}"

    # What these methods share.

    def encode(self, texts, special=None):
        """{text: ids}. `special`: whether to add the model's special tokens;
        None: unless a text begins with the first of them already."""
        ids = {}
        groups = {}
        for text in texts:
            bare = (text.startswith(self.prefix_text) if special is None
                    else not special)
            groups.setdefault(bare, []).append(text)
        for bare, group in groups.items():
            results = self.call(self.stub.Tokenize, group,
                                lambda part, bare=bare: pb.TokenizeRequest(
                                    model=self.model.name, texts=part,
                                    no_special_tokens=bare))
            ids.update(zip(group, (list(result.ids) for result in results)))
        return ids

    def decode(self, token):
        request = pb.DetokenizeRequest(
            model=self.model.name, sequences=[pb.Tokens(ids=[token])],
            keep_special_tokens=True)
        return checked(self.stub.Detokenize(
            request, timeout=self.timeout).results[0]).text

    def score(self, pairs):
        """For each (ids, ids that follow): the log-probability of those that
        follow, and whether each of them is the likeliest."""
        requests = []
        for before, after in pairs:
            if not before or not 0 < len(after) <= self.max_length:
                raise ValueError(
                    f"a continuation has {len(after)} tokens after {len(before)}: "
                    f"must have 1 to {self.max_length} after at least 1")
            # The last token is not computed. A long context loses its start.
            ids = (before + after)[-(self.max_length + 1):]
            source = min(len(ids) - len(after), self.model.max_source_tokens)
            requests.append(pb.ScorePair(source=tokens_input(ids[:source]),
                                         target=tokens_input(ids[source:])))
        results = self.call(self.stub.Score, requests,
                            lambda part: pb.ScoreRequest(
                                model=self.model.name, pairs=part,
                                top_log_probs=1))
        scores = []
        for (_, after), result in zip(pairs, results):
            tokens = result.tokens[-len(after):]
            scores.append((sum(token.token.log_prob for token in tokens),
                           all(token.top[0].id == token.token.id
                               for token in tokens)))
        return scores

    def call(self, method, inputs, request_of):
        """The results of inputs, in order. Each call has a part of them."""
        parts = [inputs[i:i + self.inputs_per_call]
                 for i in range(0, len(inputs), self.inputs_per_call)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            responses = pool.map(
                lambda part: method(request_of(part), timeout=self.timeout),
                parts)
            return [checked(result) for response in responses
                    for result in response.results]

    def read_arguments(self, arguments):
        """(strings that end a text, GenerationParams) for a task's
        generation_kwargs."""
        rest = dict(arguments)
        until = rest.pop("until", None) or []
        until = [until] if isinstance(until, str) else until
        lengths = [rest.pop(name, None) for name in LENGTHS]
        length = next((n for n in lengths if n is not None), self.max_gen_toks)
        temperature = float(rest.pop("temperature", 0))
        do_sample = rest.pop("do_sample", temperature > 0)
        params = pb.GenerationParams(
            max_new_tokens=int(length), do_sample=do_sample, num_beams=1,
            num_return_sequences=1, stop_strings=[
                text for text in until
                if 0 < len(text.encode()) <= MAX_STOP_BYTES][:MAX_STOP_STRINGS])
        if do_sample:
            params.temperature = temperature
        for name, value in rest.items():
            if name not in SAMPLING:
                raise ValueError(
                    f"generation_kwargs has '{name}', must be one of until, "
                    f"temperature, do_sample, {', '.join(LENGTHS)}, "
                    f"{', '.join(SAMPLING)}")
            setattr(params, name, SAMPLING[name](value))
        return until, params


def split_off_spaces(context, continuation):
    """Moves spaces from the end of the context to the continuation: in most
    vocabularies a word begins with its space."""
    end = len(context.rstrip())
    return context[:end], context[end:] + continuation


def tokens_input(ids):
    return pb.Input(tokens=pb.Tokens(ids=ids))


def checked(result):
    if result.status.code != 0:
        raise ValueError(result.status.message)
    return result


def cut(text, until):
    """The text before the first of the strings `until` in it."""
    for stop in until:
        if stop:
            text = text.split(stop)[0]
    return text


if __name__ == "__main__":
    from lm_eval.__main__ import cli_evaluate
    cli_evaluate()
