"""attend.lm_eval against what lm-evaluation-harness' own "hf" model makes of the
same checkpoint (tests/golden/make_evaluation.py). Neither is needed here.
Started by python_client_test.sh."""

import json
import pathlib
import unittest
from types import SimpleNamespace

from attend.lm_eval import AttendLM, rolling_windows
from attend.v1 import attend_pb2 as pb
from served import TIMEOUT, ServedTest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "golden/evaluation"
GOLDEN = json.loads((FOLDER / "evaluation.json").read_text(encoding="utf-8"))


def requests(*arguments):
    """As the harness' Instance."""
    return [SimpleNamespace(args=args) for args in arguments]


class LmEvalAttendTest(ServedTest):

    model = FOLDER

    def assert_near(self, found, expected):
        self.assertAlmostEqual(found, expected,
                               delta=2e-5 * (1 + abs(expected)))

    def test_loglikelihood(self):
        # In calls of few, and in one.
        for inputs_per_call in (5, 100):
            harness = AttendLM(self.address, inputs_per_call=inputs_per_call)
            cases = GOLDEN["loglikelihood"]
            found = harness.loglikelihood(requests(
                *((case["context"], case["continuation"]) for case in cases)))
            self.assertEqual(len(found), len(cases))
            for case, (log_prob, greedy) in zip(cases, found):
                with self.subTest(case):
                    self.assert_near(log_prob, case["log_prob"])
                    self.assertEqual(greedy, case["greedy"])
        self.assertEqual({case["greedy"] for case in cases}, {False, True})

    def test_loglikelihood_rolling(self):
        cases = GOLDEN["rolling"]
        found = AttendLM(self.address).loglikelihood_rolling(
            requests(*((case["text"],) for case in cases)))
        for case, log_prob in zip(cases, found):
            with self.subTest(case):
                self.assert_near(log_prob, case["log_prob"])

    def test_generate_until(self):
        cases = GOLDEN["generate"]
        found = AttendLM(self.address).generate_until(requests(
            *((case["context"], case["arguments"]) for case in cases)))
        self.assertEqual(found, [case["text"] for case in cases])

    def test_generation_that_is_sampled(self):
        arguments = {"until": ["\n"], "temperature": 0.5, "top_p": 0.9,
                     "max_gen_toks": 8, "seed": 3}
        harness = AttendLM(self.address)
        first, second = harness.generate_until(
            requests(*[("the cat", arguments)] * 2))
        self.assertEqual(first, second)
        with self.assertRaisesRegex(ValueError, "'typical_p'"):
            harness.generate_until(requests(("the cat", {"typical_p": 0.2})))

    def test_what_does_not_fit(self):
        harness = AttendLM(self.address)
        with self.assertRaisesRegex(ValueError, "max_gen_toks is 48"):
            harness.generate_until(requests(("a", {"max_gen_toks": 48})))
        with self.assertRaisesRegex(ValueError, "0 tokens after"):
            harness.loglikelihood(requests(("the cat", "")))

    def test_shorter_windows(self):
        text = GOLDEN["rolling"][0]["text"]
        harness = AttendLM(self.address, max_length=4)
        tokens = harness.encode([text])[text]
        expected = sum(
            harness.score([pair])[0][0]
            for pair in rolling_windows(tokens, harness.prefix_token_id, 4))
        self.assert_near(harness.loglikelihood_rolling(requests((text,)))[0],
                         expected)

    def test_chat_template(self):
        harness = AttendLM(self.address)
        chat = [{"role": "user", "content": "the cat"},
                {"role": "assistant", "content": "sleeps on"}]
        self.assertEqual(harness.apply_chat_template(chat[:1]),
                         "<s>user: the cat\nassistant:")
        text = harness.apply_chat_template(chat, add_generation_prompt=False)
        self.assertEqual(text, "<s>user: the cat\n<s>assistant: sleeps on")
        # It has its special tokens; no other is put before it.
        ids = harness.encode([text])[text]
        self.assertEqual(ids.count(harness.prefix_token_id), 2)

    def test_prompt_log_probs(self):
        """Generate tells of a prompt what Score does."""
        text = GOLDEN["rolling"][0]["text"]
        result = self.stub.Generate(pb.GenerateRequest(
            inputs=[pb.Input(text=text)],
            params=pb.GenerationParams(max_new_tokens=1, echo=True,
                                       prompt_log_probs=True)),
            timeout=TIMEOUT).results[0]
        self.assertEqual(result.prompt.text, text)
        tokens = [entry.token for entry in result.prompt.log_probs]
        self.assertEqual([token.id for token in tokens],
                         list(result.prompt.ids))
        harness = AttendLM(self.address)
        ids = list(result.prompt.ids)
        self.assert_near(sum(token.log_prob for token in tokens[1:]),
                         harness.score([(ids[:1], ids[1:])])[0][0])


class RollingWindowsTest(unittest.TestCase):

    def test_every_token_comes_once_with_as_much_context_as_fits(self):
        self.assertEqual(list(rolling_windows(list(range(10)), -1, 4)),
                         [([-1], [0, 1, 2, 3]), ([3], [4, 5, 6, 7]),
                          ([5, 6, 7], [8, 9])])
        self.assertEqual(list(rolling_windows([7], -1, 4)), [([-1], [7])])
        self.assertEqual(list(rolling_windows([], -1, 4)), [])


if __name__ == "__main__":
    unittest.main()
