"""The process of a peer. It is not run by hand:

    python -m peers.decoders.serve MODULE PRECISION SETTING MODEL CHECKPOINT GGUF

makes MODEL of CHECKPOINT or GGUF unless it is there, reads jobs from standard
input, one JSON object a line, and answers each with one line:

{"sources": [[ids], ...], "in_flight": 16, "max_new_tokens": 64, "outputs": false}
    seconds, cpu_seconds and tokens; outputs, if asked for. Search is greedy and goes on after
    the end of the text. As many sources as are in flight start together and
    have the same length, which is what batches of all peers like best.

{"score": [ids]}
    log_probs: of each id but the first, after those before it.

MODULE has write(checkpoint, gguf, precision, out), which makes the model, and
load(precision, setting, model), whose result has generate(sources, new_tokens)
and log_probs(ids).
"""

import fcntl
import importlib
import json
import os
import pathlib
import sys
import time


def groups(job):
    size = job.get("in_flight", 1)
    return [job["sources"][i:i + size]
            for i in range(0, len(job["sources"]), size)]


def answer(peer, job):
    if "score" in job:
        return {"log_probs": [float(p) for p in peer.log_probs(job["score"])]}
    start, cpu = time.perf_counter(), time.process_time()
    outputs = [output for group in groups(job)
               for output in peer.generate(group, job["max_new_tokens"])]
    seconds = time.perf_counter() - start
    cpu_seconds = time.process_time() - cpu
    if {len(output) for output in outputs} != {job["max_new_tokens"]}:
        raise RuntimeError("a continuation is not as long as it was to be")
    result = {"seconds": seconds, "cpu_seconds": cpu_seconds,
              "tokens": sum(map(len, outputs))}
    return result | ({"outputs": outputs} if job.get("outputs") else {})


def answers_alone():
    """Where answers go. What libraries print goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def make(runtime, model, checkpoint, gguf, precision):
    """The processes of two settings have one model, and one of them makes it."""
    with open(f"{model}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not model.exists():
            part = model.with_name(f"{model.name}.part")
            runtime.write(checkpoint, gguf, precision, part)
            part.rename(model)


def serve(module, precision, setting, model, checkpoint, gguf):
    out = answers_alone()
    runtime = importlib.import_module(f"peers.decoders.{module}")
    model = pathlib.Path(model)
    make(runtime, model, checkpoint, gguf, precision)
    peer = runtime.load(precision, setting, str(model))
    for line in sys.stdin:
        print(json.dumps(answer(peer, json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
