#!/usr/bin/env python3
"""aiperf, unmodified, on the streams of /v1/chat/completions of an Attend server.
Fails if a request fails.

    python3 -m venv /tmp/aiperf
    /tmp/aiperf/bin/pip install aiperf==0.13.0
    /tmp/aiperf/bin/python tests/bench/openai_load.py \\
        build/release/server/attend-server --model FOLDER

FOLDER is a checkpoint with a chat template; aiperf reads its tokenizer.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/conformance"))

SHOWN = ["time_to_first_token", "inter_token_latency", "request_latency",
         "output_token_throughput", "request_count"]


def profile(url, options, folder):
    """What aiperf measures, by the names of its metrics."""
    subprocess.run(
        [pathlib.Path(sys.executable).parent / "aiperf", "profile",
         "--model=model", f"--url={url}", "--endpoint-type=chat", "--streaming",
         f"--tokenizer={options.model}", "--ui=none",
         f"--request-count={options.requests}",
         f"--concurrency={options.concurrency}", f"--isl={options.input}",
         f"--osl={options.output}", "--extra-inputs=ignore_eos:true",
         "--random-seed=1", f"--artifact-dir={folder}"],
        check=True)
    [report] = pathlib.Path(folder).rglob("profile_export_aiperf.json")
    return json.loads(report.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("--model", required=True)
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--input", type=int, default=64, help="tokens")
    parser.add_argument("--output", type=int, default=32, help="tokens")
    options = parser.parse_args()
    os.environ["ATTEND_SERVER"] = options.server
    from served import Server
    server = Server({"model": options.model})
    try:
        with tempfile.TemporaryDirectory() as folder:
            report = profile(f"http://127.0.0.1:{server.http_port}", options,
                             folder)
    finally:
        server.close()
    for name in SHOWN:
        metric = report[name]
        print(f"{name}: {metric['avg']:.1f} {metric['unit']}")
    well = report["request_count"]["avg"]
    return 0 if well == options.requests else 1


if __name__ == "__main__":
    sys.exit(main())
