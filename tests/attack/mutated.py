#!/usr/bin/env python3
"""Floods all methods with mutated messages from several connections, and
measures tiny valid calls beside them.

    mutated.py --server build/release/server/attend-server [--seconds 20]

The server's log says how long it took for each tiny call, from its arrival to
its end. What a client measures beyond that is the network's and its own: both
sides share the machine's CPUs.
"""

import argparse
import collections
import multiprocessing
import random
import re
import sys
import threading
import time

from attacked_server import MODEL, ROOT, attacked_server

sys.path.insert(0, str(ROOT / "tests/bench/harness"))

METHODS = ("Generate", "GenerateStream", "Score", "Embed", "Classify",
           "FillMask", "Rerank", "Tokenize", "Detokenize", "ListModels",
           "GetModel", "ModelInfer", "ModelStreamInfer")


def path(method):
    service = ("inference.GRPCInferenceService" if "Infer" in method
               else "attend.v1.Attend")
    return f"/{service}/{method}"


def messages():
    """A valid message of each method, as bytes."""
    from attend_client import pb  # makes the stubs: once in each process
    from infer_request import infer_request
    infer = infer_request(["Two dogs are running through the snow.", "Hi."],
                          "embed")
    text = pb.Input(text="Two dogs are running through the snow.")
    generate = pb.GenerateRequest(
        inputs=[text, text],
        params=pb.GenerationParams(max_new_tokens=4, num_beams=2))
    pair = pb.ScorePair(source=pb.Input(text="Hello."),
                        target=pb.Input(text="Hallo."))
    some = {
        "Generate": generate, "GenerateStream": generate,
        "Score": pb.ScoreRequest(pairs=[pair]),
        "Embed": pb.EmbedRequest(inputs=[text]),
        "Classify": pb.ClassifyRequest(inputs=[text]),
        "FillMask": pb.FillMaskRequest(inputs=[text]),
        "Rerank": pb.RerankRequest(query="dogs", documents=["cats", "dogs"]),
        "Tokenize": pb.TokenizeRequest(texts=["Hello."]),
        "Detokenize": pb.DetokenizeRequest(
            sequences=[pb.Tokens(ids=[12, 13])]),
        "ListModels": pb.ListModelsRequest(), "GetModel": pb.GetModelRequest(),
    }
    return {"ModelInfer": infer, "ModelStreamInfer": infer,
            **{name: message.SerializeToString()
               for name, message in some.items()}}


def mutate(data, rng):
    """A few bytes changed, left out, put in, repeated, or the end cut off."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data))
        kind = rng.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:at + rng.randint(1, 8)]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randint(1, 8))
        elif kind == 3:
            data[at:at] = data[at:at + 64] * rng.randint(1, 50)
        else:
            del data[at:]
    return bytes(data)


def connect(address):
    import grpc
    # A pool of one's own: else all channels of a process share a connection.
    return grpc.insecure_channel(address, options=[
        ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)])


def finish(call):
    """The status of a call, and its last answer."""
    import grpc
    answer = b""
    try:
        for answer in call:
            pass
        return "OK", answer
    except grpc.RpcError as error:
        return error.code().name, answer


def flood(address, methods, seed, at_once, end, results):
    """Keeps `at_once` mutated calls under way until the time `end`."""
    valid = messages()
    codes = collections.Counter()
    lock = threading.Lock()

    def run(number):
        rng = random.Random(f"{seed}/{number}")
        with connect(address) as channel:
            stubs = {name: channel.stream_stream(path(name))
                     for name in methods}
            while time.time() < end:
                name = rng.choice(methods)
                count = 8 if name == "ModelStreamInfer" else 1
                code, _ = finish(stubs[name](
                    iter([mutate(valid[name], rng) for _ in range(count)]),
                    timeout=10))
                with lock:
                    codes[code] += 1

    threads = [threading.Thread(target=run, args=(i,)) for i in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(dict(codes))


def probe(address, timeout, end):
    """Tiny valid calls one after the other: (id, method, seconds, code,
    seconds that the input waited for its first step)."""
    import grpc
    from attend_client import pb
    requests = {
        "Tokenize": pb.TokenizeRequest(texts=["Hi."]),
        "Generate": pb.GenerateRequest(
            inputs=[pb.Input(text="Hi.")],
            params=pb.GenerationParams(max_new_tokens=1, num_beams=1)),
    }
    done = []
    with connect(address) as channel:
        grpc.channel_ready_future(channel).result(30)
        stubs = {name: channel.unary_stream(path(name)) for name in requests}
        while time.time() < end:
            name = ("Tokenize", "Generate")[len(done) % 2]
            call_id = f"probe-{len(done)}"
            begin = time.monotonic()
            code, answer = finish(stubs[name](
                requests[name].SerializeToString(), timeout=timeout,
                metadata=[("x-request-id", call_id)]))
            seconds = time.monotonic() - begin
            queue = 0
            if name == "Generate" and code == "OK":
                timings = pb.GenerateResponse.FromString(
                    answer).results[0].timings
                queue = timings.queue.ToTimedelta().total_seconds()
            done.append((call_id, name, seconds, code, queue))
            time.sleep(0.01)
    return done


def server_seconds(log):
    """By id, what the log says of calls."""
    return {found[1]: float(found[2]) for found in
            re.finditer(r"event=call id=(probe-\d+) .*? seconds=(\S+)", log)}


def percentiles(seconds):
    ordered = sorted(seconds)
    if not ordered:
        return "none"
    at = lambda share: ordered[min(int(share * len(ordered)),
                                   len(ordered) - 1)] * 1000
    return (f"p50 {at(.5):.1f} ms, p99 {at(.99):.1f} ms, "
            f"p99.9 {at(.999):.1f} ms, max {ordered[-1] * 1000:.1f} ms")


def attack(address, options):
    context = multiprocessing.get_context("spawn")  # gRPC does not fork
    results = context.Queue()
    begin = time.time() + 3  # Python starts
    end = begin + options.seconds
    flooders = [context.Process(target=flood, args=(
        address, options.methods, f"{options.seed}/{i}", options.at_once, end,
        results))
        for i in range(options.processes)]
    for flooder in flooders:
        flooder.start()
    time.sleep(max(0, begin - time.time()))
    done = probe(address, options.deadline, end)
    codes = collections.Counter()
    for _ in flooders:
        codes.update(results.get())
    for flooder in flooders:
        flooder.join()
    return done, codes


def report(done, codes, log, options):
    own = server_seconds(log)
    print(f"mutated calls: {sum(codes.values())} {dict(codes)}")
    good = True
    for name in "Tokenize", "Generate":
        calls = [call for call in done if call[1] == name]
        print(f"{name}: {len(calls)} tiny calls, "
              f"{dict(collections.Counter(call[3] for call in calls))}")
        print("  client:", percentiles([call[2] for call in calls]))
        times = [own[call[0]] for call in calls if call[0] in own]
        print("  server:", percentiles(times))
        if name == "Generate":
            print("  in the queue:", percentiles([call[4] for call in calls]))
        late = [call for call in calls if call[3] != "OK"]
        good &= bool(times) and max(times) < options.deadline
        for call_id, _, seconds, code, _ in late[:10]:
            print(f"  {call_id}: {code} after {seconds:.3f} s, the server's: "
                  f"{own.get(call_id, 'it never saw the call')}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=16,
                        help="connections of each process")
    parser.add_argument("--methods", nargs="+", default=METHODS,
                        help="that are flooded")
    parser.add_argument("--deadline", type=float, default=2)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    with attacked_server(options.server, options.model) as server:
        done, codes = attack(server.address, options)
        code = server.stop()
        good = report(done, codes, server.log(), options)
    print(f"server's exit code: {code}")
    sys.exit(0 if good and code == 0 else 1)


if __name__ == "__main__":
    main()
