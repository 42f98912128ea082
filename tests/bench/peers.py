#!/usr/bin/env python3
"""Compares the server with CTranslate2 in f32: same checkpoint, same machine.

    python3 -m venv /tmp/bench
    /tmp/bench/bin/pip install -r tests/bench/requirements.txt
    /tmp/bench/bin/python tests/bench/peers.py \\
        --server build/release/server/attend-server \\
        --cli build/release/client/attend --source flickr2016.en

The server is started here on a free port and measured through gRPC: text in,
text out, the load generator (`attend bench`, or without --cli a Python client)
on the same cores. CTranslate2 is called as a library with tokens in hand: what
tokenising and RPC cost counts against the server alone.

* In flight 64: the server has 64 calls of one sentence each in flight.
  CTranslate2 gets all sentences at once and sorts them into batches of 64 / its
  workers. In flight 1: one sentence after the other, for both.
* CTranslate2 is tried with each setting of (workers x threads) in {2x1, 1x2},
  CT2_USE_MKL in {0, 1} and the instruction set in {its choice, AVX512}, each in
  a process of its own. The fastest two of a workload go on; the better median is
  the one compared.
* Rounds alternate between both and the server; medians and ratios are printed,
  as a table or as JSON. First a check: greedy ids of both, counted where equal.

CTranslate2's own converter drops <pad> and starts the decoder from a zero vector.
The model here starts from the vector of <pad>, so the conversion keeps it, and
then greedy ids agree. Beam search of the two differs in when it stops and which
candidates may finish; only its speed is compared.
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORKLOADS = [(1, 64), (4, 64), (1, 1), (4, 1)]  # (beams, in flight)


# -------------------------------------------------- CTranslate2, in a process

def convert(model, out):
    from ctranslate2.converters import transformers as converters

    class Loader(converters.MarianMTLoader):
        """Keeps <pad> and starts from its vector."""

        def set_config(self, config, model, tokenizer):
            super().set_config(config, model, tokenizer)
            config.decoder_start_token = tokenizer.pad_token

        def set_decoder(self, spec, decoder):
            converters.BartLoader.set_decoder(self, spec, decoder)

        def get_vocabulary(self, model, tokenizer):
            return converters.BartLoader.get_vocabulary(self, model, tokenizer)

        def _remove_pad_weights(self, spec):
            pass

    converters._MODEL_LOADERS["MarianConfig"] = Loader()
    converters.TransformersConverter(str(model)).convert(str(out), force=True)


def serve_ctranslate2(model, workers, threads):
    """Reads one job a line, {"beams", "in_flight", "sources"}; answers
    {"seconds", "tokens", "outputs"}."""
    import ctranslate2
    translator = ctranslate2.Translator(
        model, device="cpu", compute_type="float32", inter_threads=workers,
        intra_threads=threads)
    for line in sys.stdin:
        job = json.loads(line)
        options = dict(
            beam_size=job["beams"], max_decoding_length=128, max_input_length=0,
            min_decoding_length=0, length_penalty=1,
            suppress_sequences=[["<pad>"]])
        start = time.perf_counter()
        if job["in_flight"] == 1:
            results = [translator.translate_batch([source], **options)[0]
                       for source in job["sources"]]
        else:
            results = translator.translate_batch(
                job["sources"], max_batch_size=max(1, job["in_flight"] // workers),
                **options)
        seconds = time.perf_counter() - start
        outputs = [result.hypotheses[0] for result in results]
        # End of sequence is not in the result, but was computed.
        tokens = sum(len(output) + 1 for output in outputs)
        print(json.dumps({"seconds": seconds, "tokens": tokens,
                          "outputs": outputs}), flush=True)


class CTranslate2:
    def __init__(self, model, workers, threads, mkl, isa):
        self.name = f"{workers}x{threads} MKL={mkl} {isa or 'default'}"
        environment = dict(os.environ, CT2_USE_MKL=str(mkl),
                           OMP_NUM_THREADS=str(threads))
        if isa:
            environment["CT2_FORCE_CPU_ISA"] = isa
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve-ctranslate2", str(model),
             str(workers), str(threads)], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def run(self, beams, in_flight, sources):
        """None where the setting does not run on this machine."""
        try:
            self.process.stdin.write(json.dumps(
                {"beams": beams, "in_flight": in_flight, "sources": sources}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ------------------------------------------------------------------ the server

class Attend:
    name = "attend"

    def __init__(self, args):
        import attend_client
        self.client, self.cli = attend_client, args.cli
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        command = [args.server, "--model", str(args.model), "--port",
                   self.address.split(":")[1], *args.server_flag]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            self.translate(["Hello."], 1, 1)  # waits until it is ready
        except BaseException:
            self.close()
            raise

    def translate(self, texts, beams, in_flight):
        return self.client.translate(
            self.address, texts, self.client.params(beams, 128), in_flight)

    def run(self, beams, in_flight, texts, path):
        if self.cli:
            report = json.loads(subprocess.run(
                [self.cli, "bench", "--address", self.address, "--file", path,
                 "--concurrency", str(in_flight), "--requests", str(len(texts)),
                 "--warmup", "0", "--beams", str(beams), "--max-new-tokens",
                 "128", "--length-penalty", "1", "--early-stopping", "false",
                 "--json"], check=True, capture_output=True, text=True).stdout)
            if report["errors"]:
                raise RuntimeError(f"attend bench: {report['errors']}")
            return {"seconds": report["elapsed_seconds"],
                    "tokens": report["generated_tokens"]}
        start = time.perf_counter()
        choices = self.translate(texts, beams, in_flight)
        return {"seconds": time.perf_counter() - start,
                "tokens": sum(len(choice.ids) for choice in choices)}

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)


# ------------------------------------------------------------------ comparison

def equal_greedy(attend, peer, texts, sources, vocabulary):
    mine = attend.translate(texts, 1, 16)
    theirs = peer.run(1, 64, sources)["outputs"]
    eos = vocabulary["</s>"]
    return sum([i for i in choice.ids if i != eos]
               == [vocabulary[token] for token in output]
               for choice, output in zip(mine, theirs))


def measure(attend, peers, texts, sources, path, rounds):
    """{workload: {name: [(seconds, tokens)]}}. The first round warms up, and
    chooses the two settings of CTranslate2 that go on for each workload."""
    times = {}
    for beams, in_flight in WORKLOADS:
        count = len(texts) if in_flight > 1 else max(8, len(texts) // 8)
        job = beams, in_flight, sources[:count]
        trial = {peer: peer.run(*job) for peer in peers}
        able = [peer for peer in peers if trial[peer]]
        able.sort(key=lambda peer: trial[peer]["seconds"])
        runs = times.setdefault((beams, in_flight), {})
        for round_number in range(rounds + 1):
            results = {peer.name: peer.run(*job) for peer in able[:2]}
            if attend:
                results[attend.name] = attend.run(beams, in_flight,
                                                  texts[:count], path)
            for name, result in results.items():
                if round_number:
                    runs.setdefault(name, []).append(
                        (result["seconds"], result["tokens"]))
    return times


def summarise(times):
    """Sentences are the same for all, so seconds are what is compared."""
    report = []
    for (beams, in_flight), by_name in times.items():
        medians = {name: statistics.median(s for s, _ in runs)
                   for name, runs in by_name.items()}
        tokens = {name: runs[0][1] for name, runs in by_name.items()}
        best = min((n for n in medians if n != Attend.name), key=medians.get)
        row = {"beams": beams, "in_flight": in_flight, "ctranslate2": best,
               "ctranslate2_seconds": medians[best],
               "ctranslate2_tokens_per_second": tokens[best] / medians[best],
               "all_seconds": medians}
        if Attend.name in medians:
            mine = medians[Attend.name]
            row |= {"attend_seconds": mine,
                    "attend_tokens_per_second": tokens[Attend.name] / mine,
                    "ratio": medians[best] / mine}
        report.append(row)
    return report


def table(report):
    lines = [f"{'beams':>5} {'in flight':>9} {'attend tok/s':>12} "
             f"{'CT2 tok/s':>10} {'speed ratio':>11}  best CTranslate2"]
    for row in report:
        lines.append(
            f"{row['beams']:>5} {row['in_flight']:>9} "
            f"{row.get('attend_tokens_per_second', float('nan')):>12.0f} "
            f"{row['ctranslate2_tokens_per_second']:>10.0f} "
            f"{row.get('ratio', float('nan')):>11.2f}  {row['ctranslate2']}")
    return "\n".join(lines)


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=ROOT / "models/en-de")
    parser.add_argument("--server", help="attend-server; without it only "
                        "CTranslate2 is measured")
    parser.add_argument("--server-flag", action="append", default=[],
                        help="further flag of the server, like --server-flag="
                        "--threads=1; may be repeated")
    parser.add_argument("--cli", help="the `attend` command line")
    parser.add_argument("--source", default=ROOT / "tests/golden/en-de/sentences.en")
    parser.add_argument("--sentences", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def run(args, scratch):
    convert(args.model, scratch / "ctranslate2")
    from transformers import MarianTokenizer
    tokenizer = MarianTokenizer.from_pretrained(args.model)
    texts = [line for line in pathlib.Path(args.source).read_text(
        encoding="utf-8").split("\n") if line.strip()][:args.sentences]
    sources = [tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"])
               for text in texts]
    (scratch / "source").write_text("\n".join(texts) + "\n", encoding="utf-8")
    peers = [CTranslate2(scratch / "ctranslate2", workers, threads, mkl, isa)
             for workers, threads in ((2, 1), (1, 2))
             for mkl in (0, 1) for isa in (None, "AVX512")]
    attend = None
    result = {"sentences": len(texts), "rounds": args.rounds}
    try:
        if args.server:
            attend = Attend(args)
            result["equal_greedy"] = equal_greedy(
                attend, peers[0], texts, sources, tokenizer.get_vocab())
        result["workloads"] = summarise(measure(
            attend, peers, texts, sources, scratch / "source", args.rounds))
    finally:
        for process in peers + ([attend] if attend else []):
            process.close()
    return result


def main():
    if sys.argv[1:2] == ["--serve-ctranslate2"]:
        serve_ctranslate2(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        return
    args = options()
    with tempfile.TemporaryDirectory() as scratch:
        result = run(args, pathlib.Path(scratch))
    if args.json:
        print(json.dumps(result, indent=1))
        return
    if "equal_greedy" in result:
        print(f"equal greedy ids: {result['equal_greedy']} of "
              f"{result['sentences']}")
    print(table(result["workloads"]))


if __name__ == "__main__":
    main()
