"""Runs cases by the Python package: `driver.py sync` or `driver.py asyncio`. Each
line that comes in is a case, each line that goes out its outcome; see README.md.
"""

import asyncio
import contextlib
import functools
import itertools
import json
import os
import re
import sys
import threading
import time

import attend
from attend.v1 import attend_pb2 as pb
from google.protobuf import json_format

MESSAGES = {
    "generate": pb.GenerateRequest, "stream": pb.GenerateRequest,
    "translate": pb.TranslateRequest, "translateStream": pb.TranslateRequest,
    "score": pb.ScoreRequest, "embed": pb.EmbedRequest,
    "embedTokens": pb.EmbedRequest, "classify": pb.ClassifyRequest,
    "fillMask": pb.FillMaskRequest, "rerank": pb.RerankRequest,
    "tokenize": pb.TokenizeRequest, "detokenize": pb.DetokenizeRequest,
}
VALUES = {
    "generate": lambda found: [result.texts for result in found],
    "translate": lambda found: [result.text for result in found],
    "score": lambda found: [result.log_prob for result in found],
    "embed": lambda found: found.tolist(),
    "embedTokens": lambda found: [rows.tolist() for rows in found],
    "classify": lambda found: [
        [[token.piece, token.begin, token.end, *list(token.labels.items())[0]]
         for token in result.tokens] or list(result.labels.items())
        for result in found],
    "fillMask": lambda found: [result.text for result in found],
    "rerank": lambda found: [[result.index, result.score] for result in found],
    "tokenize": lambda found: [result.ids for result in found],
    "detokenize": lambda found: found,
    "models": lambda found: [model.name for model in found],
    "model": lambda found: found.family,
    "loadModel": lambda found: found.family,
    "unloadModel": lambda found: found,
    "setAlias": lambda found: found,
    "profile": lambda found: sorted(json.loads(found)),
}


def generate(text):
    return {"method": "generate", "request": {"inputs": [{"text": text}]}}


def client_options(given):
    options = {name: given[name]
               for name in ("model", "timeout", "token", "affinity")
               if name in given}
    for name, value in given.get("tls", {}).items():
        options["server_name" if name == "serverName" else name] = value
    if "healthChecks" in given:
        options["health_checks"] = given["healthChecks"]
    options["retry"] = attend.Retry(
        given.get("maxAttempts", 4), resume=given.get("resume", True),
        hedge_after=given.get("hedgeAfter"))
    return options


def arguments(call):
    """Of a method of the client."""
    method, options = call["method"], {}
    for name in "timeout", "traceparent":
        if name in call:
            options[name] = call[name]
    if "metadata" in call:
        options["metadata"] = list(call["metadata"].items())
    if "request" not in call:
        return [call[name] for name in ("name", "version", "targets", "seconds")
                if name in call], options
    request = json_format.ParseDict(call["request"], MESSAGES[method]())
    for field, value in request.ListFields():
        if field.name == "params":
            options.update((field.name, value)
                           for field, value in value.ListFields())
        elif field.enum_type:
            name = field.enum_type.values_by_number[value].name
            options[field.name] = name.rsplit("_", 1)[1].lower()
        else:
            options[field.name] = value
    if "glossary" in options:
        options["glossary"] = {term.source: term.target
                               for term in options["glossary"]}
    if method == "score":
        return [[(pair.source, pair.target) for pair in options.pop("pairs")]
                ], options
    if method == "rerank":
        return [options.pop("query"), options.pop("documents")], options
    if method == "detokenize":
        return [[tokens.ids for tokens in options.pop("sequences")]], options
    inputs = list(options.pop(next(
        name for name in ("inputs", "documents", "texts") if name in options)))
    return [inputs[0] if method.lower().endswith("stream") else inputs], options


def method_of(client, call):
    return getattr(client, re.sub(
        "[A-Z]", lambda found: "_" + found[0].lower(), call["method"]))


def call_once(client, call, parts):
    positional, named = arguments(call)
    if "cancelAfter" in call:
        named["cancellation"] = attend.Cancellation()
        watch = threading.Timer(call["cancelAfter"],
                                named["cancellation"].cancel)
        watch.daemon = True
        watch.start()
    method = method_of(client, call)
    if not call["method"].lower().endswith("stream"):
        return VALUES[call["method"]](method(*positional, **named))
    found = method(*positional, **named)
    for part in found:
        parts.append(part)
        if "atFirstPart" in call and len(parts) == 1:
            with contextlib.suppress(attend.AttendError):
                call_once(client, generate(call["atFirstPart"]), [])
        if len(parts) == call.get("stopAfter"):
            found.close()
    return parts


async def await_once(client, call, parts):
    running = asyncio.ensure_future(await_all(client, call, parts))
    if "cancelAfter" in call:
        asyncio.get_running_loop().call_later(
            call["cancelAfter"], running.cancel)
    return await running


async def await_all(client, call, parts):
    positional, named = arguments(call)
    method = method_of(client, call)
    if not call["method"].lower().endswith("stream"):
        return VALUES[call["method"]](await method(*positional, **named))
    found = method(*positional, **named)
    async for part in found:
        parts.append(part)
        if "atFirstPart" in call and len(parts) == 1:
            with contextlib.suppress(attend.AttendError):
                await await_once(client, generate(call["atFirstPart"]), [])
        if len(parts) == call.get("stopAfter"):
            await found.aclose()
    return parts


def outcome_of(error, parts):
    found = {"code": error.code.name, "message": error.message,
             "retryAfter": error.retry_after, "input": error.index}
    if parts:
        found["value"] = parts
    if error.results:
        found["others"] = [result.text for result in error.results
                           if not isinstance(result, attend.AttendError)]
    return found


def calls_of(call):
    """With `keys`, of so many texts that begin differently."""
    return ([generate(f"{i:8}") for i in range(call["keys"])]
            if "keys" in call else [call] * call.get("times", 1))


async def warm(call, once):
    """Calls until so many servers have answered."""
    servers, seen = call.get("warm", 0), set()
    calls = calls_of(call) if "keys" in call else [generate("a")]
    for each in itertools.cycle(calls):
        if len(seen) >= servers:
            break
        seen.add((await once(each, []))[0][0])


async def run(case, once):
    """The outcome of a case. `once` awaits a call."""
    call, parts = case["call"], []
    await warm(call, once)
    outcome = {"values": []}
    begin = time.monotonic()
    try:
        for each in calls_of(call):
            outcome["values"].append(await once(each, parts))
    except attend.AttendError as error:
        outcome |= outcome_of(error, parts)
    except asyncio.CancelledError:
        outcome["code"] = "CANCELLED"
    return outcome | {"seconds": time.monotonic() - begin}


async def run_case(case, kept, make, once):
    """With a client of its own, or with `keep` with that of the last such."""
    client = kept.pop() if case.get("keep") and kept else make(
        case["target"], **client_options(case["client"]))
    try:
        return await run(case, functools.partial(once, client))
    finally:
        if case.get("keep"):
            kept.append(client)
        else:
            closed = client.close()
            if closed is not None:  # that of asyncio
                await closed


async def call_sync(client, call, parts):
    return call_once(client, call, parts)


def main():
    make, once = {"sync": (attend.Client, call_sync),
                  "asyncio": (attend.aio.Client, await_once)}[sys.argv[1]]
    kept = []
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    for line in sys.stdin:
        case = json.loads(line)
        os.environ.update(case["environment"])
        try:
            outcome = loop.run_until_complete(run_case(case, kept, make, once))
        except (ValueError, OSError) as error:
            outcome = {"refused": str(error)}
        for name in case["environment"]:
            del os.environ[name]
        print(json.dumps(outcome), flush=True)


main()
