#!/usr/bin/env python3
"""A model whose chat template is hostile, beside one that is not.

    templates.py --server build/release/server/attend-server [--seconds 60]

Clients have conversations rendered, each by a part of the template that doubles
a text, loops for ever, calls itself, or makes lists of a billion entries; some
leave at once, some have deadlines. Another one makes small calls to the other
model. It passes (exit code 0) if

* each rendering ends with INVALID_ARGUMENT, or with its deadline or client,
* the processes that render keep to 80 MiB each (64 are for what a template
  makes), and the server to 16 MiB more than before,
* no small call fails, and their p99 is at most three times the quiet one, and
  20 ms,
* a harmless conversation is answered as before, and the server drains.

Needs grpcio and grpcio-tools.
"""

import argparse
import collections
import json
import pathlib
import random
import sys
import tempfile
import threading
import time

from attacked_server import MODEL, ROOT, attacked_server, report
from mutated import connect, finish

sys.path.insert(0, str(ROOT / "tests/bench/harness"))


def forty_times(grown):
    return ("{% set ns = namespace(x='xy') %}{% for i in range(40) %}"
            "{% set ns.x = ns.x" + grown + " %}{% endfor %}{{ ns.x }}")


HOSTILE = {
    "doubles": forty_times(" ~ ns.x"),
    "adds": forty_times(" + ns.x"),
    "replaces": forty_times(".replace('x', ns.x)"),
    "joins": forty_times(".join([ns.x, ns.x])"),
    "captures": "{% set ns = namespace() %}{% for i in range(99) %}{% set x %}"
                "{{ ns.x }}{{ ns.x }}x{% endset %}{% set ns.x = x %}"
                "{% endfor %}",
    "billion": "{{ ([messages] * 1000000000) | list | length }}",
    "batches": "{{ messages | batch(1000000000, 0) | list | length }}",
    "prints": "{% for i in range(99999) %}{{ 'x' * 100000 }}{% endfor %}",
    "counts": "{{ messages[0].role.count('') }}",
    "searches": "{{ 2 in [messages] * 10 ** 13 }}",
    "loops": "{% for a in range(90000) %}{% for b in range(90000) %}"
             "{% endfor %}{% endfor %}",
    "nests": "{% set ns = namespace(x=[]) %}{% for a in range(99) %}"
             "{% for b in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}"
             "{% endfor %}",
    "recurses": "{% macro m(s) %}{{ m(s ~ s) }}{% endmacro %}{{ m('xy') }}",
    "compares": "{% set a = namespace() %}{% set b = namespace(x=a) %}"
                "{% set a.x = b %}{{ a == b }}",
    "trees": "{% set ns = namespace(x=[], y=[]) %}{% for a in range(60) %}"
             "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}"
             "{% endfor %}{{ ns.x == ns.y }}",
}


def hostile_model(directory):
    """A small model that chats: the first message names what is rendered."""
    golden = ROOT / "tests/golden/families/llama-llama3-rope"
    for file in golden.iterdir():
        (directory / file.name).symlink_to(file)
    parts = "".join(
        f"{{% {'if' if not number else 'elif'} messages[0].content == "
        f"'{name}' %}}{part}"
        for number, (name, part) in enumerate(HOSTILE.items()))
    (directory / "chat_template.jinja").write_text(
        parts + "{% else %}{{ messages[0].content }}{% endif %}")
    words = ["<unk>", "</s>", "<pad>", *"abcdefghijklmnopqrstuvwxyz"]
    (directory / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "unk_token": "<unk>",
                  "vocab": {word: i for i, word in enumerate(words)}}}))
    return str(directory)


def renderer_mebibytes(pid):
    """The most that one of the server's processes that render has taken."""
    parents, most = {}, {}
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue  # it has ended
        fields = dict(line.split(":", 1) for line in text.splitlines())
        if fields["Name"].strip() == "attend-sandbox" and "VmHWM" in fields:
            parents[int(fields["Pid"])] = int(fields["PPid"])
            most[int(fields["Pid"])] = int(fields["VmHWM"].split()[0]) / 1024
    return max((most[child] for child, parent in parents.items()
                if parents.get(parent) == pid), default=0)


class Attacker(threading.Thread):
    """Has hostile conversations rendered until the time `end`."""

    def __init__(self, address, seed, end):
        super().__init__()
        self.seen = collections.Counter()
        self.longest = 0
        self._address = address
        self._random = random.Random(seed)
        self._end = end

    def run(self):
        from attend_client import pb
        with connect(self._address) as channel:
            generate = channel.unary_stream("/attend.v1.Attend/Generate")
            while time.time() < self._end:
                name = self._random.choice(list(HOSTILE))
                way = self._random.choice(("whole", "whole", "late", "left"))
                begin = time.monotonic()
                call = generate(
                    chat(pb, name),
                    timeout=self._random.random() if way == "late" else 120)
                if way == "left":
                    time.sleep(self._random.random() * 0.3)
                    call.cancel()
                code, answer = finish(call)
                if code == "OK":  # of the call; its input has another
                    code = status_of(pb, answer)
                self.longest = max(self.longest, time.monotonic() - begin)
                self.seen[way, name, code] += 1


def chat(pb, text):
    message = pb.ChatMessage(role="user", content=text)
    return pb.GenerateRequest(
        model="hostile", inputs=[pb.Input(chat=pb.Chat(messages=[message]))],
        params=pb.GenerationParams(max_new_tokens=4,
                                   do_sample=False)).SerializeToString()


CODES = {0: "OK", 3: "INVALID_ARGUMENT", 4: "DEADLINE_EXCEEDED",
         8: "RESOURCE_EXHAUSTED", 14: "UNAVAILABLE"}


def status_of(pb, answer):
    code = pb.GenerateResponse.FromString(answer).results[0].status.code
    return CODES.get(code, str(code))


def harmless(address):
    """The bytes of the result of a harmless conversation."""
    from attend_client import pb
    with connect(address) as channel:
        generate = channel.unary_stream("/attend.v1.Attend/Generate")
        _, answer = finish(generate(chat(pb, "a b c"), timeout=60))
    result = pb.GenerateResponse.FromString(answer).results[0]
    return result.status.code, [list(c.ids) for c in result.choices]


def small_calls(server, end):
    """Milliseconds of calls, sorted; how many failed; memory of a renderer."""
    from attend_client import params, pb
    request = pb.GenerateRequest(
        model="en-de", inputs=[pb.Input(text="A dog.")],
        params=params(1, 4)).SerializeToString()
    took, failed, memory = [], 0, 0
    with connect(server.address) as channel:
        generate = channel.unary_stream("/attend.v1.Attend/Generate")
        while time.time() < end:
            begin = time.monotonic()
            code, _ = finish(generate(request, timeout=30))
            took.append((time.monotonic() - begin) * 1000)
            failed += code != "OK"
            time.sleep(0.01)
            if len(took) % 10 == 0:
                memory = max(memory, renderer_mebibytes(server.pid))
    return sorted(took), failed, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        model = hostile_model(pathlib.Path(directory))
        with attacked_server(options.server, f"en-de={options.model}",
                             [f"--model=hostile={model}"]) as server:
            answer = harmless(server.address)
            quiet, failed_before, _ = small_calls(server, time.time() + 10)
            before = server.resident_mebibytes()
            end = time.time() + options.seconds
            attackers = [Attacker(server.address, i, end)
                         for i in range(options.clients)]
            for attacker in attackers:
                attacker.start()
            beside, failed, renderer = small_calls(server, end)
            for attacker in attackers:
                attacker.join()
            time.sleep(3)
            after = server.resident_mebibytes()
            same = harmless(server.address) == answer
            code = server.stop()
    seen = sum((attacker.seen for attacker in attackers),
               collections.Counter())
    for (way, name, ended), number in sorted(seen.items()):
        print(f"  {way:6} {name:10} {ended:18} {number:5}")
    allowed = {"whole": {"INVALID_ARGUMENT"},
               "late": {"INVALID_ARGUMENT", "DEADLINE_EXCEEDED"},
               "left": {"INVALID_ARGUMENT", "CANCELLED"}}
    longest = max(attacker.longest for attacker in attackers)
    print(f"a hostile call took at most {longest:.1f} s")
    wrong = {key: n for key, n in seen.items() if key[2] not in allowed[key[0]]}
    for name, took in ("alone", quiet), ("beside them", beside):
        print(f"{len(took)} small calls {name}: p50 "
              f"{took[len(took) // 2]:.1f} ms")
    p99 = [took[int(len(took) * 0.99)] for took in (quiet, beside)]
    checks = {
        f"{sum(seen.values())} renderings, ended otherwise: {wrong or 'none'}":
            not wrong,
        f"a process that renders took {renderer:.0f} MiB": renderer < 80,
        f"the server's memory {before:.0f} MiB, then {after:.0f} MiB":
            after < before + 16,
        f"p99 of small calls {p99[0]:.1f} ms alone, {p99[1]:.1f} ms beside "
        "them": p99[1] <= 3 * p99[0] + 20,
        f"small calls that failed: {failed + failed_before}":
            failed + failed_before == 0,
        f"a harmless conversation: {answer}": same and answer[0] == 0,
        f"exit code {code}": code == 0,
    }
    report(checks.items())


if __name__ == "__main__":
    main()
