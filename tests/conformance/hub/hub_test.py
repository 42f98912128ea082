#!/usr/bin/env python3
"""What huggingface_hub fetches, --hub finds, and the other way round.

The package, as it is on PyPI, and the server have one cache, and one hub of
ours. The hub has gone when the other one looks for what the first has fetched.

ATTEND_SERVER is the program to run.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from served import Server

ROOT = pathlib.Path(__file__).parents[3]
# The package reads its variables when it is imported.
FETCH = """
import sys
import huggingface_hub
print(huggingface_hub.snapshot_download("bundled/en-de"))
"""


class HubTest(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = home.name
        self.hub = subprocess.Popen(
            [sys.executable, ROOT / "tests/support/fake_hub.py",
             ROOT / "models/en-de"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.hub.stdout.close)
        self.addCleanup(self.stop_hub)
        port = self.hub.stdout.readline().split()[0]
        self.variables = {"HF_HOME": self.home, "no_proxy": "127.0.0.1",
                          "HF_ENDPOINT": f"http://127.0.0.1:{port}"}

    def stop_hub(self):
        self.hub.kill()
        self.hub.wait()

    def fetch_by_package(self, **variables):
        done = subprocess.run(
            [sys.executable, "-c", FETCH], check=True, text=True,
            env={**os.environ, **self.variables, **variables},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return pathlib.Path(done.stdout.strip())

    def translate_by_server(self, **variables):
        before = dict(os.environ)
        os.environ.update(self.variables, **variables)
        try:
            server = Server({}, "--hub=bundled/en-de")
        finally:
            os.environ.clear()
            os.environ.update(before)
        try:
            request = urllib.request.Request(
                f"http://127.0.0.1:{server.http_port}"
                "/attend.v1.Attend/Generate",
                json.dumps({"inputs": [{"text": "A dog."}]}).encode(),
                {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                result = json.load(answer)["results"][0]
            return result["choices"][0]["text"]
        finally:
            server.close()

    def test_the_server_finds_what_the_package_fetched(self):
        self.fetch_by_package()
        self.stop_hub()
        self.assertIn("Hund", self.translate_by_server(HF_HUB_OFFLINE="1"))
        # Without the variable, too, as the hub does not answer.
        self.assertIn("Hund", self.translate_by_server())

    def test_the_package_finds_what_the_server_fetched(self):
        self.assertIn("Hund", self.translate_by_server())
        self.stop_hub()
        snapshot = self.fetch_by_package(HF_HUB_OFFLINE="1")
        for name in "config.json", "model.safetensors", "source.spm":
            self.assertEqual((snapshot / name).read_bytes(),
                             (ROOT / "models/en-de" / name).read_bytes())


if __name__ == "__main__":
    unittest.main()
