"""The examples of docs/api: each program calls every method of a real server, and
all print the same. See run.sh.

    examples_test.py LANGUAGE...
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from conformance import ROOT
from served import Server

EXAMPLES = ROOT / "client/examples"
FOLDER = pathlib.Path(os.environ["ATTEND_EXAMPLES_FOLDER"])
LANGUAGES = sys.argv[1:]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SAID = """\
ListModels: en-de
GetModel: marian, 512 tokens
Generate: Wie geht es dir?
Generate: Ich lese ein Buch.
GenerateStream: Wie geht es dir?
Translate: <p>Ich lese ein <b>Buch</b>.</p>
TranslateStream: Wie geht es dir? Ich lese ein Buch.
Score: the first fits better: true
Embed: cosine
skipped: no model here has TASK_CLASSIFY
skipped: no model here has TASK_FILL_MASK
skipped: no model here has TASK_ANSWER
skipped: no model here has TASK_RERANK
Tokenize: ▁How ▁are ▁you ? </s>
Detokenize: How are you?
Errors: notfound: model 'none' is not served
"""
# Of a server with models of all tasks.
SAID_BY_ALL = SAID.replace("en-de", "en-de labels masks ranker").replace(
    "skipped: no model here has TASK_CLASSIFY", "Classify: positive").replace(
    "skipped: no model here has TASK_FILL_MASK", "FillMask: a dog").replace(
    "skipped: no model here has TASK_RERANK", "Rerank:")


def tokenizer():
    """Of letters: the golden checkpoints have some 60 tokens, and none of this."""
    vocabulary = SPECIAL + list(LETTERS) + [f"##{letter}" for letter in LETTERS]
    ids = {token: i for i, token in enumerate(vocabulary)}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {"id": ids[token], "content": token, "single_word": False,
             "lstrip": False, "rstrip": False, "normalized": False,
             "special": True} for token in SPECIAL],
        "normalizer": {"type": "BertNormalizer", "clean_text": True,
                       "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "BertProcessing", "sep": ["[SEP]", ids["[SEP]"]],
            "cls": ["[CLS]", ids["[CLS]"]]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]",
                  "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": ids},
    }


def checkpoint(name, folder):
    """A golden checkpoint that reads text."""
    for path in (ROOT / "tests/golden/families" / name).iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "BertTokenizer", "mask_token": "[MASK]"}))
    return folder


class ExamplesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        # A copy, since what is built leaves files beside its sources.
        copy = tempfile.TemporaryDirectory()
        cls.addClassCleanup(copy.cleanup)
        cls.copy = pathlib.Path(copy.name)
        for part in "client/go", "client/node", "client/python", "proto":
            shutil.copytree(ROOT / part, cls.copy / part,
                            ignore=shutil.ignore_patterns("node_modules"))

    def serve(self, **others):
        """The bundled model, and golden checkpoints by the names here."""
        models = {"en-de": ROOT / "models/en-de"}
        for name, golden in others.items():
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            models[name] = checkpoint(golden, pathlib.Path(folder.name))
        server = Server(models)
        self.addCleanup(server.close)
        return server

    def run_example(self, language, server, command):
        """What it prints."""
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, shell=True,
            cwd=FOLDER / language,
            env={**os.environ, "ATTEND_ADDRESS": server.address,
                 "ATTEND_GO_CLIENT": str(self.copy / "client/go"),
                 "ATTEND_NODE_CLIENT": str(self.copy / "client/node"),
                 "ATTEND_PYTHON_CLIENT": str(self.copy / "client/python"),
                 "ATTEND_URL": f"http://127.0.0.1:{server.http_port}"})
        self.assertEqual(done.returncode, 0, done.stderr)
        # Each language has its own spelling of codes.
        return re.sub(r"(?m)^Errors: ([\w ]+)", lambda found: "Errors: " +
                      found[1].replace("_", "").lower(), done.stdout)

    def check(self, said, expected):
        for language, text in said.items():
            with self.subTest(language):
                self.assertEqual(text, said[LANGUAGES[0]])
        for line, known in zip(said[LANGUAGES[0]].splitlines(),
                               expected.splitlines(), strict=True):
            self.assertEqual(line[:len(known)], known)

    def check_encoder(self, text):
        shape, *rows = text.splitlines()
        self.assertEqual(shape, "Shape: (3, 256)")
        cosines = [float(row.split(" ", 1)[0]) for row in rows]
        self.assertEqual(cosines[0], 1)
        self.assertGreater(cosines[1], cosines[2] + 0.2)

    def test_all_say_the_same(self):
        bundled = self.serve()
        every = self.serve(labels="bert-4x-labels", masks="bert-mask",
                           ranker="bert-reranker")
        said, said_by_all = {}, {}
        for language in LANGUAGES:
            # This folder keeps packages between runs.
            shutil.copytree(EXAMPLES / language, FOLDER / language,
                            dirs_exist_ok=True)
            said[language] = self.run_example(language, bundled, "./run.sh")
            # The last line runs what the others build.
            script = (EXAMPLES / language / "run.sh").read_text().splitlines()
            said_by_all[language] = self.run_example(
                language, every,
                "./run.sh" if language == "curl" else script[-1])
        if "python" in LANGUAGES:
            self.check_encoder(self.run_example("python", bundled,
                                                "python3 encoder.py"))
        self.check(said, SAID)
        self.check(said_by_all, SAID_BY_ALL)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
