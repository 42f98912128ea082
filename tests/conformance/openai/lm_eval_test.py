"""lm-evaluation-harness, its models of OpenAI's API, against what its own model
"hf" makes of the same checkpoint (tests/golden/make_evaluation.py). A module of
openai_clients_test.py."""

import json
import os
import unittest

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import jinja2
from lm_eval.api.instance import Instance
from lm_eval.models.openai_completions import (LocalChatCompletion,
                                               LocalCompletionsAPI)

from conformance import ROOT
from openai_table import CHAT_PATH, COMPLETIONS, TABLE
from served import Server

HARNESS = "`lm_eval`"
MODEL = ROOT / "tests/golden/evaluation"
GOLDEN = json.loads((MODEL / "evaluation.json").read_text(encoding="utf-8"))
POSITIONS = 48
FIELDS = {"until", "max_gen_toks", "do_sample", "temperature"}


class LmEvalTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = Server({"model": MODEL})
        cls.base = f"http://127.0.0.1:{cls.server.http_port}/v1"
        cls.harness = cls.completions(add_bos_token=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    @classmethod
    def completions(cls, **arguments):
        return LocalCompletionsAPI(
            base_url=f"{cls.base}/completions", model="model",
            tokenizer=str(MODEL), tokenizer_backend="huggingface",
            num_concurrent=4, max_retries=1, max_length=POSITIONS,
            **arguments)

    def run_cases(self, kind, cases, harness=None):
        """`cases` are the arguments of requests."""
        requests = [Instance(kind, {}, tuple(case), i)
                    for i, case in enumerate(cases)]
        return getattr(harness or self.harness, kind)(requests,
                                                      disable_tqdm=True)

    def is_alike(self, text, new_tokens=0):
        """Whether it sends what its "hf" computes: of what is too long it cuts
        one token more, and it puts a <s> before another."""
        tokens = len(self.harness.tok_encode(text)) + new_tokens
        return tokens < POSITIONS - 1 and "<s>" not in text

    def assert_near(self, found, expected):
        self.assertAlmostEqual(found, expected,
                               delta=2e-5 * (1 + abs(expected)))

    @TABLE.row(COMPLETIONS, HARNESS,
               "`local-completions`: log-likelihoods as of its own `hf`")
    def test_loglikelihood(self):
        cases = [case for case in GOLDEN["loglikelihood"]
                 if self.is_alike(case["context"] + case["continuation"])]
        self.assertGreater(len(cases), 15)
        found = self.run_cases("loglikelihood", (
            (case["context"], case["continuation"]) for case in cases))
        self.assertEqual(len(found), len(cases))
        for case, (log_prob, greedy) in zip(cases, found):
            with self.subTest(case):
                self.assert_near(log_prob, case["log_prob"])
                self.assertEqual(greedy, case["greedy"])

    @TABLE.row(COMPLETIONS, HARNESS,
               "`local-completions`: texts and perplexities as of its own `hf`")
    def test_texts(self):
        cases = [case for case in GOLDEN["generate"]
                 if case["arguments"].keys() <= FIELDS and self.is_alike(
                     case["context"], case["arguments"]["max_gen_toks"])]
        self.assertGreater(len(cases), 5)
        self.assertEqual(
            self.run_cases("generate_until", (
                (case["context"], dict(case["arguments"])) for case in cases)),
            [case["text"] for case in cases])
        cases = [case for case in GOLDEN["rolling"]
                 if self.is_alike(case["text"])]
        self.assertGreater(len(cases), 1)
        found = self.run_cases("loglikelihood_rolling",
                               ((case["text"],) for case in cases))
        for case, log_prob in zip(cases, found):
            with self.subTest(case):
                self.assert_near(log_prob, case["log_prob"])

    @TABLE.row(CHAT_PATH, HARNESS,
               "`local-chat-completions`: the text that the template leads to")
    def test_chat(self):
        arguments = {"until": ["\n"], "max_gen_toks": 8}
        messages = [{"role": "user", "content": "the cat"}]
        template = (MODEL / "chat_template.jinja").read_text(encoding="utf-8")
        prompt = jinja2.Template(template).render(
            messages=messages, add_generation_prompt=True, bos_token="<s>",
            eos_token="</s>")
        chat = LocalChatCompletion(base_url=f"{self.base}/chat/completions",
                                   model="model", max_retries=1)
        from lm_eval.models.api_models import JsonChatStr
        request = Instance("generate_until", {}, (
            JsonChatStr(json.dumps(messages)), dict(arguments)), 0)
        self.assertEqual(
            chat.generate_until([request], disable_tqdm=True),
            self.run_cases("generate_until", [(prompt, arguments)],
                           self.completions()))
