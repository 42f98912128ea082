"""Triton's perf_analyzer, unmodified, against a server with real models. Its
wheel needs the C library of Debian 13; elsewhere these tests are skipped."""

import json
import os
import pathlib
import platform
import re
import subprocess
import tempfile
import unittest

import conformance
import models
from models import ENCODER, TEXTS, TRANSLATOR
from served import TIMEOUT

table = conformance.Table("protocols.md", "oip perf_analyzer")
CLIENT = "`perf_analyzer` " + re.search(
    r"perf_analyzer==(.*)",
    pathlib.Path(__file__).with_name("optional.txt").read_text())[1]
PROGRAM = os.environ.get("ATTEND_PERF_ANALYZER")
REQUESTS = 60


def setUpModule():
    global server
    if PROGRAM:
        server = models.start()


def tearDownModule():
    if PROGRAM:
        server.close()


@unittest.skipUnless(PROGRAM, f"no perf_analyzer for {platform.libc_ver()}")
class PerfAnalyzerTest(unittest.TestCase):
    def measure(self, *flags):
        """What it prints, {name: number}."""
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder) / "data.json"
            data.write_text(json.dumps(
                {"data": [{"text_input": [text]} for text in TEXTS]}))
            result = subprocess.run(
                [PROGRAM, "-u", server.address, "-i", "grpc",
                 "--input-data", data, "--concurrency-range", "4",
                 "--request-count", str(REQUESTS), *flags],
                capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return {name.strip(): float(number) for name, number in
                re.findall(r"^ *([A-Za-z\d ]+): ([\d.]+)", result.stdout,
                           re.MULTILINE)}

    @table.row("ModelInfer, ModelConfig, ModelStatistics", CLIENT,
               "an encoder in batches of 4; the server's counts are the "
               "client's")
    def test_encoder(self):
        figures = self.measure("-m", ENCODER, "-b", "4")
        self.assertEqual(figures["Request count"], REQUESTS)
        self.assertEqual(figures["Successful request count"], REQUESTS)
        self.assertEqual(figures["Inference count"], 4 * REQUESTS)
        self.assertGreater(figures["Execution count"], 0)

    @table.row("ModelStreamInfer, ModelConfig, ModelStatistics", CLIENT,
               "streams of a translator, with parameters")
    def test_stream(self):
        figures = self.measure("-m", TRANSLATOR, "--async", "--streaming",
                               "--request-parameter", "max_new_tokens:8:int")
        self.assertEqual(figures["Request count"], REQUESTS)
        self.assertEqual(figures["Successful request count"], REQUESTS)


if __name__ == "__main__":
    table.main()
