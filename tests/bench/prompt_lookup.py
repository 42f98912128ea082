#!/usr/bin/env python3
"""What prompt lookup gains, and what it costs where texts do not repeat.

    python3 tests/bench/prompt_lookup.py --model FOLDER [--dtype int8]

Two servers, one of them with --prompt-lookup=false, take turns with the same
conversations: tokens per second of both, and the ratio of the medians. The
texts must be equal. FOLDER is a model that chats.
"""

import argparse
import concurrent.futures
import json
import statistics
import time
import urllib.request

import http_cost

CODE = (http_cost.ROOT / "engine/cache/block_table.cc").read_text()[1200:3200]
PROSE = 2 * (
    "The service was slow in the morning. Engineers looked at the queue and "
    "found that long requests held up short ones. They changed the policy of "
    "the queue, measured the latency again, and wrote a report about it. ")
CONVERSATIONS = {
    "an edit of code":
        f"Repeat this code exactly, but rename tokens_ to count_:\n{CODE}",
    "a copy of prose": f"Copy this text word by word:\n{PROSE}",
    "an answer": "Tell me about the history of coffee in three paragraphs.",
    "a story": "Write a story about a fox and a crow.",
}


def chat(server, prompt, options):
    body = {"messages": [{"role": "user", "content": prompt}], "seed": 5,
            "max_tokens": options.tokens, "temperature": options.temperature,
            "model": "model"}
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.http}/v1/chat/completions",
        json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        result = json.load(answer)
    return (result["choices"][0]["message"]["content"],
            result["usage"]["completion_tokens"])


def rate(server, prompt, options):
    """The texts, and tokens per second, of --at-once conversations."""
    prompts = [f"({i}) {prompt}" for i in range(options.at_once)]
    begin = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        answers = list(pool.map(lambda p: chat(server, p, options), prompts))
    seconds = time.perf_counter() - begin
    return [text for text, _ in answers], sum(n for _, n in answers) / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument(
        "--server",
        default=http_cost.ROOT / "build/release/server/attend-server")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    servers = [
        http_cost.Server(options.server, f"model={options.model}",
                         [f"--dtype={options.dtype}", f"--prompt-lookup={on}"])
        for on in ("true", "false")]
    try:
        for name, prompt in CONVERSATIONS.items():
            rates = [[], []]
            for _ in range(options.rounds):
                texts = []
                for server, of_server in zip(servers, rates):
                    text, tokens = rate(server, prompt, options)
                    texts.append(text)
                    of_server.append(tokens)
                assert texts[0] == texts[1], name
            # The first round reads the prompt.
            on, off = (statistics.median(r[1:]) for r in rates)
            print(f"{name}: {on:.0f} with, {off:.0f} without, {on / off:.2f}")
    finally:
        for server in servers:
            server.close()


if __name__ == "__main__":
    main()
