#!/usr/bin/env python3
"""Small calls beside clients with texts of megabytes.

    build/release/server/attend-server --model models/en-de &
    tests/attack/long_texts.py --pid $!

Clients send texts of 10 MB, as they are, or to be cut, or to be translated or
tokenised, and conversations of 100,000 messages, one call after the other. Another one makes small calls,
first alone and then beside them. It prints how long small calls took, how the
long ones ended, and the server's resident memory before, during and after.

With --long-address another server gets the long texts. Small calls then show
what those clients cost on the same machine, whatever the server does.

The 99th percentile beside them should be at most twice the quiet one, no long
call should take longer than seconds, and memory should not grow from one run to
the next.
"""

import argparse
import collections
import multiprocessing
import pathlib
import re
import sys
import time

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
from harness import attend_client  # noqa: E402

pb = attend_client.pb
TEXTS = {
    "words": "Two dogs play in the snow. ",
    "one word": "a",
    "spaces": " ",
    "emoji": "\U0001F469\u200d\U0001F469\u200d\U0001F467",
    "marks": "a\u0301\u0301\u0301",
    "unknown": "\ua000",
}


def stub(address):
    channel = grpc.insecure_channel(address, options=[
        ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)])
    grpc.channel_ready_future(channel).result(timeout=30)
    return attend_client.rpc.AttendStub(channel)


def long_requests(model, size, messages):
    """Name, method and request of each."""
    for name, part in TEXTS.items():
        text = part * (size // len(part.encode()))
        for cut in (False, True):
            yield (f"{name}, cut" if cut else name, "Generate",
                   pb.GenerateRequest(model=model, inputs=[pb.Input(text=text)],
                                      truncate=cut,
                                      params=pb.GenerationParams(
                                          max_new_tokens=1)))
        yield (f"{name}, document", "Translate",
               pb.TranslateRequest(model=model, documents=[text],
                                   params=pb.GenerationParams(
                                       max_new_tokens=1)))
        part = text.encode()[:size // 256].decode(errors="ignore")
        yield (f"{name}, tokens", "Tokenize",
               pb.TokenizeRequest(model=model, texts=256 * [part]))
    chat = pb.Chat(messages=[pb.ChatMessage(role="user", content="Hi.")
                             for _ in range(messages)])
    yield (f"{messages} messages", "Generate",
           pb.GenerateRequest(model=model, inputs=[pb.Input(chat=chat)]))


def attack(address, model, size, messages, number, ready, stop, ends):
    """Calls until `stop`; puts (name, code, seconds) of each into `ends`."""
    calls = stub(address)
    requests = list(long_requests(model, size, messages))
    turn = number
    ready.release()
    while not stop.is_set():
        name, method, request = requests[turn % len(requests)]
        turn += 1
        begin = time.monotonic()
        try:
            getattr(calls, method)(request, timeout=60)
            code = "OK"
        except grpc.RpcError as error:
            code = error.code().name
        ends.put((name, code, time.monotonic() - begin))


def small_calls(address, model, seconds):
    """Milliseconds of each, sorted."""
    calls = stub(address)
    request = pb.GenerateRequest(model=model, inputs=[pb.Input(text="A dog.")],
                                 params=pb.GenerationParams(num_beams=1,
                                                            max_new_tokens=4))
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        calls.Generate(request, timeout=120)
        times.append((time.monotonic() - begin) * 1e3)
        time.sleep(0.01)
    return sorted(times)


def resident(pid):
    if pid is None:
        return "?"
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    kilobytes = int(re.search(r"VmRSS:\s+(\d+)", text)[1])
    return f"{kilobytes / 1024:.0f}"


def show(name, times, memory):
    at = lambda share: times[min(int(len(times) * share), len(times) - 1)]
    print(f"{name:8} {len(times):6} small calls, ms: p50 {at(.5):8.1f}  "
          f"p99 {at(.99):8.1f}  most {times[-1]:8.1f}   RSS {memory} MiB",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--address", default="localhost:50051")
    parser.add_argument("--long-address", help="of the server that gets long "
                        "texts; --address if left out")
    parser.add_argument("--pid", type=int, help="the server's, for its memory")
    parser.add_argument("--model", default="", help="that long texts are for")
    parser.add_argument("--small-model", default="", help="that others ask")
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--bytes", type=int, default=10_000_000)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()

    show("quiet", small_calls(options.address, options.small_model,
                              options.seconds), resident(options.pid))
    spawn = multiprocessing.get_context("spawn")
    ready, stop, ends = spawn.Semaphore(0), spawn.Event(), spawn.Queue()
    clients = [spawn.Process(target=attack, args=(
        options.long_address or options.address, options.model, options.bytes,
        options.messages, number, ready, stop, ends)) for number in range(options.clients)]
    for client in clients:
        client.start()
    for _ in clients:
        ready.acquire()
    time.sleep(1)
    times = small_calls(options.address, options.small_model, options.seconds)
    show("beside", times, resident(options.pid))
    stop.set()
    seen = collections.defaultdict(list)
    while any(client.is_alive() for client in clients) or not ends.empty():
        if not ends.empty():
            name, code, seconds = ends.get()
            seen[name, code].append(seconds)
        else:
            time.sleep(0.05)
    for (name, code), all_seconds in sorted(seen.items()):
        print(f"  {name:20} {code:20} {len(all_seconds):5} calls, at most "
              f"{max(all_seconds):.2f} s")
    time.sleep(3)
    show("after", small_calls(options.address, options.small_model, 3),
         resident(options.pid))


if __name__ == "__main__":
    main()
