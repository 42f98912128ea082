"""GuideLLM, unmodified, measures streams of OpenAI's API. A module of
openai_clients_test.py.

The version is the last that needs no torch."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from conformance import ROOT
from openai_table import CHAT_PATH, COMPLETIONS, TABLE
from served import TIMEOUT, Server

GUIDELLM = "`guidellm`"
MODEL = ROOT / "tests/golden/evaluation"
REQUESTS, NEW_TOKENS = 6, 8
DATA = {"prompt_tokens": 16, "output_tokens": NEW_TOKENS, "samples": REQUESTS}


class GuidellmTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = Server({"model": MODEL})

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def measured(self, route):
        """What it says of a benchmark with two streams at a time."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "report.json")
            subprocess.run(
                [pathlib.Path(sys.executable).parent / "guidellm", "benchmark",
                 "run", f"--target=http://127.0.0.1:{self.server.http_port}",
                 "--model=model", f"--processor={MODEL}",
                 f"--data={json.dumps(DATA)}", "--rate-type=concurrent",
                 "--rate=2", f"--max-requests={REQUESTS}", "--disable-progress",
                 "--disable-console-outputs", f"--output-path={report}"],
                check=True, timeout=TIMEOUT,
                env=os.environ | {"GUIDELLM__PREFERRED_ROUTE": route,
                                  "HF_HUB_OFFLINE": "1"})
            [benchmark] = json.loads(
                report.read_text(encoding="utf-8"))["benchmarks"]
        return benchmark

    def check(self, route):
        benchmark = self.measured(route)
        totals = benchmark["request_totals"]
        self.assertEqual((totals["successful"], totals["total"]),
                         (REQUESTS, REQUESTS), totals)
        for request in benchmark["requests"]["successful"]:
            self.assertEqual(request["request_type"], route)
            self.assertEqual(request["output_tokens"], NEW_TOKENS)
            self.assertGreater(request["prompt_tokens"], 0)
            self.assertTrue(request["output"])
            self.assertGreater(request["time_to_first_token_ms"], 0)

    @TABLE.row(COMPLETIONS, GUIDELLM, "a benchmark of streams, none failed")
    def test_completions(self):
        self.check("text_completions")

    @TABLE.row(CHAT_PATH, GUIDELLM, "a benchmark of streams, none failed")
    def test_chat(self):
        self.check("chat_completions")
