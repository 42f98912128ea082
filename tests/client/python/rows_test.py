"""Rows of bulk jobs (attend.ray, attend.spark) against a server that answers and
fails as it is told to. Neither Ray nor Spark is needed. Started by
python_client_test.sh."""

import collections
import threading
import unittest
from unittest import mock

import attend
import numpy
import pandas
import pyarrow
from attend import _rows
from attend._stages import addresses
from attend.ray import Embed, Generate, Translate
from attend.spark import rows_of
from attend.v1 import attend_pb2 as pb
from fake import FakeServer, retry_info
from served import TIMEOUT
from grpc import StatusCode

TEXTS = [f"text {number}" for number in range(100)]


class RowServer(FakeServer):
    """Generates texts in capitals; a vector is the text's length. `statuses` are
    codes that inputs fail with, one after the other; `most` is how many inputs a
    call may have, and `wait` runs before an answer. A full queue says that a call
    may come again after `pause` seconds."""

    def __init__(self):
        self.statuses = {}
        self.most = 1000
        self.pause = 0.01
        self.wait = lambda texts: None
        self.counts = collections.Counter()
        self.lock = threading.Lock()
        self.running = self.most_running = 0
        super().__init__()

    def take(self, request, context):
        texts = [each.text for each in request.inputs]
        with self.lock:
            self.counts.update(texts)
            self.running += 1
            self.most_running = max(self.running, self.most_running)
            found = [self.statuses[text].pop(0) if self.statuses.get(text)
                     else StatusCode.OK for text in texts]
        self.wait(texts)
        self.fail(context)
        with self.lock:
            self.running -= 1
        if len(texts) > self.most:
            context.abort(StatusCode.INVALID_ARGUMENT, "too many inputs")
        if found == found[:1] * len(texts) and found[0] != StatusCode.OK:
            if found[0] in (StatusCode.RESOURCE_EXHAUSTED,
                            StatusCode.UNAVAILABLE):
                context.set_trailing_metadata([retry_info(self.pause)])
            context.abort(found[0], f"no {texts[0]}")
        return [(text, pb.Status(code=code.value[0], message=f"no {text}"
                                 if code.value[0] else ""))
                for text, code in zip(texts, found)]

    def Generate(self, request, context):
        return pb.GenerateResponse(results=[
            pb.GenerateResult(status=status,
                              choices=[pb.Choice(text=text.upper())])
            for text, status in self.take(request, context)])

    def Embed(self, request, context):
        return pb.EmbedResponse(results=[
            pb.EmbedResult(status=status, width=2, data=numpy.array(
                [len(text), 1], "<f4").tobytes())
            for text, status in self.take(request, context)])


class RowsTest(unittest.TestCase):
    def setUp(self):
        self.server = RowServer()
        self.addCleanup(self.server.stop)

    def stage(self, kind=Generate, **arguments):
        stage = kind(self.server.address, **arguments)
        self.addCleanup(stage.close)
        return stage

    def test_rows_are_in_order_whichever_call_ends_first(self):
        all_of_them = threading.Barrier(7)
        last = threading.Event()

        def wait(texts):
            all_of_them.wait(TIMEOUT)
            if TEXTS[-1] in texts:
                last.set()
            self.assertTrue(last.wait(TIMEOUT))

        self.server.wait = wait
        made = self.stage(inputs_per_call=15)({"text": TEXTS, "id": [7] * 100})
        self.assertEqual(list(made), ["text", "id", "generation"])
        self.assertEqual(made["text"], TEXTS)
        self.assertEqual(list(made["generation"]), list(map(str.upper, TEXTS)))
        self.assertEqual(set(self.server.counts.values()), {1})
        self.assertEqual(self.server.most_running, 7)

    def test_no_more_calls_at_once_than_may_be(self):
        two = threading.Barrier(2, timeout=TIMEOUT)
        self.server.wait = lambda texts: two.wait()
        self.stage(inputs_per_call=25, calls=2)({"text": TEXTS})
        self.assertEqual(self.server.most_running, 2)

    def test_the_next_batch_runs_while_one_is_waited_for(self):
        second = threading.Event()

        def wait(texts):
            if "b" in texts:
                second.set()
            self.assertTrue(second.wait(TIMEOUT))

        self.server.wait = wait
        made = self.stage().stream([{"text": ["a"]}, {"text": ["b"]}])
        self.assertEqual([list(batch["generation"]) for batch in made],
                         [["A"], ["B"]])

    def test_null_rows_stay_null(self):
        rows = ["a", None, float("nan"), "b"]
        made = self.stage()({"text": rows})["generation"]
        self.assertEqual(list(made), ["A", None, None, "B"])
        self.assertEqual(set(self.server.counts), {"a", "b"})
        self.assertEqual(list(self.stage()({"text": []})["generation"]), [])
        with self.assertRaisesRegex(TypeError, "row 1 is a int, must be text"):
            self.stage()({"text": ["a", 5]})

    def test_arrow_tables(self):
        table = pyarrow.table({"id": [1, 2, 3], "line": ["a", None, "b"]})
        stage = self.stage(column="line", output="made", errors="column")
        self.server.statuses = {"b": [StatusCode.INTERNAL]}
        made = stage(table)
        self.assertEqual(made.to_pydict(), {
            **table.to_pydict(), "made": ["A", None, None],
            "made_error": [None, None, "INTERNAL: no b"]})
        empty = stage(table.slice(0, 0))
        self.assertEqual(empty.schema, made.schema)
        with self.assertRaisesRegex(ValueError, "'made' already"):
            stage(made)
        with self.assertRaisesRegex(ValueError, "'id', 'line' has no 'text'"):
            self.stage()(table)
        with self.assertRaisesRegex(TypeError, "DataFrame.* 'pyarrow'"):
            self.stage()(table.to_pandas())

    def test_rows_that_a_full_queue_refused_are_sent_again(self):
        self.server.statuses = {
            TEXTS[3]: [StatusCode.RESOURCE_EXHAUSTED, StatusCode.UNAVAILABLE],
            TEXTS[4]: [StatusCode.OK]}
        self.server.failures = [(StatusCode.UNAVAILABLE,)]
        with mock.patch.object(_rows, "PAUSE", 0.01):
            made = self.stage(inputs_per_call=100)({"text": TEXTS})
        self.assertEqual(list(made["generation"]), list(map(str.upper, TEXTS)))
        # Once for the call that failed as a whole, once, and once again.
        self.assertEqual(self.server.counts[TEXTS[3]], 3)
        self.assertEqual(self.server.counts[TEXTS[4]], 2)

    def test_a_queue_that_stays_full_is_an_error_in_the_end(self):
        full = [StatusCode.RESOURCE_EXHAUSTED] * 2
        self.server.pause = 2 * TIMEOUT  # longer than the client will wait
        stage = self.stage(timeout=TIMEOUT, errors="column")
        for texts in (["a"], ["a", "b"]):
            self.server.statuses = {text: full[:] for text in texts}
            with self.assertRaises(attend.errors.ResourceExhausted) as caught:
                stage({"text": texts})
            self.assertIsNone(caught.exception.index)
        self.server.statuses = {"a": full[:]}
        with mock.patch.object(_rows, "PAUSE", 2 * TIMEOUT):
            with self.assertRaises(attend.errors.ResourceExhausted) as caught:
                stage({"text": ["a", "c"]})
        self.assertEqual(caught.exception.index, 0)

    def test_a_row_that_fails_ends_the_job_or_is_told(self):
        self.server.statuses = {
            TEXTS[70]: [StatusCode.INVALID_ARGUMENT] * 2}
        with self.assertRaises(attend.errors.InvalidArgument) as caught:
            self.stage()({"text": TEXTS})
        self.assertEqual(str(caught.exception),
                         "INVALID_ARGUMENT: input 70: no text 70")
        self.assertEqual(caught.exception.results, [])
        made = self.stage(errors="column")({"text": TEXTS})
        self.assertEqual([text for text in made["generation"] if text],
                         [text.upper() for text in TEXTS if text != TEXTS[70]])
        self.assertIsNone(made["generation"][70])
        errors = [None] * 100
        errors[70] = "INVALID_ARGUMENT: no text 70"
        self.assertEqual(list(made["generation_error"]), errors)

    def test_a_call_that_is_refused_as_a_whole_is_divided(self):
        self.server.most = 5
        self.server.statuses = {"\U0001f600": [StatusCode.INVALID_ARGUMENT] * 9}
        texts = [*TEXTS[:30], "\ud83d", *TEXTS[30:], "\U0001f600"]
        made = self.stage(errors="column")({"text": texts})
        self.assertEqual(
            list(made["generation"]),
            [*map(str.upper, TEXTS[:30]), None, *map(str.upper, TEXTS[30:]),
             None])
        self.assertIn("surrogates", made["generation_error"][30])
        self.assertTrue(made["generation_error"][-1].startswith("INVALID_ARG"))

    def test_what_is_not_of_a_row_ends_the_job(self):
        for code in StatusCode.PERMISSION_DENIED, StatusCode.DEADLINE_EXCEEDED:
            self.server.failures = [(code,)]
            with self.assertRaises(attend.AttendError) as caught:
                self.stage(errors="column")({"text": ["a"]})
            self.assertEqual(caught.exception.code, code)
        self.server.statuses = {"b": [StatusCode.DEADLINE_EXCEEDED]}
        with self.assertRaises(attend.errors.DeadlineExceeded):
            self.stage(errors="column")({"text": ["a", "b"]})

    def test_what_is_wrong_with_every_row_ends_the_job(self):
        self.server.most = 0
        texts = TEXTS[:3]
        with self.assertRaisesRegex(attend.errors.InvalidArgument,
                                    "^INVALID_ARGUMENT: too many inputs"):
            self.stage(errors="column")({"text": texts})
        # Rows with reasons of their own, and a row alone, do not.
        made = self.stage(errors="column")({"text": ["a"]})
        self.assertEqual(list(made["generation_error"]),
                         ["INVALID_ARGUMENT: too many inputs"])
        self.server.most = 1000
        self.server.statuses = {text: [StatusCode.INTERNAL] * 9
                                for text in texts}
        made = self.stage(errors="column")({"text": texts})
        self.assertEqual(list(made["generation_error"]),
                         [f"INTERNAL: no {text}" for text in texts])

    def test_calls_are_not_made_for_a_stream_that_ends_early(self):
        stage = self.stage(inputs_per_call=1, calls=1)
        begun, go = threading.Event(), threading.Event()

        def wait(texts):
            if texts != ["a"]:
                begun.set()
                self.assertTrue(go.wait(TIMEOUT))

        def closed(made):
            next(made)
            self.assertTrue(begun.wait(TIMEOUT))
            made.close()

        def failed(made):
            next(made)
            self.assertTrue(begun.wait(TIMEOUT))
            with self.assertRaises(TypeError):
                next(made)

        self.server.wait = wait
        for end in closed, failed:
            self.server.counts.clear()
            begun.clear()
            go.clear()
            end(stage.stream(iter([{"text": ["a"]}, {"text": ["b", "c"]},
                                   {"text": [5]}])))
            go.set()
            # There is one thread, so what was before is over.
            stage({"text": ["a"]})
            self.assertEqual(self.server.counts, {"a": 2, "b": 1})

    def test_arguments(self):
        for arguments in ({"errors": "no"}, {"calls": 0},
                          {"inputs_per_call": 0}):
            with self.assertRaisesRegex(ValueError, min(arguments)):
                self.stage(**arguments)
            with self.assertRaisesRegex(ValueError, min(arguments)):
                Embed.check(**arguments)
        for kind in Generate, Translate, Embed:
            with self.assertRaisesRegex(TypeError, "'beams'"):
                kind.check(beams=4)
            kind.check(model="a", output="b", errors="column", client={})
        with self.assertRaisesRegex(TypeError, "'beams'"):
            self.stage(beams=4)
        with self.assertRaisesRegex(ValueError, "'text' is the column"):
            Generate.check(output="text")
        with self.assertRaisesRegex(ValueError, "'a_error' is the column"):
            Generate.check(column="a_error", output="a", errors="column")

    def test_addresses_are_those_of_who_starts_a_job(self):
        with mock.patch.dict("os.environ", ATTEND_ADDRESS="a:1,b:2"):
            self.assertEqual(addresses(None), "a:1,b:2")
            self.assertEqual(addresses("c:3"), "c:3")
        with mock.patch.dict("os.environ", clear=True):
            self.assertIsNone(addresses(None))

    def test_vectors(self):
        stage = self.stage(Embed, errors="column")
        made = stage({"text": ["a", "bcd"]})["embedding"]
        numpy.testing.assert_array_equal(made, [[1, 1], [3, 1]])
        self.server.statuses = {"b": [StatusCode.INTERNAL] * 2}
        made = stage({"text": ["a", "b", None]})["embedding"]
        self.assertEqual(made[0].tolist(), [1, 1])
        self.assertEqual(list(made[1:]), [None, None])
        table = stage(pyarrow.table({"text": ["abc", "b", None]}))
        self.assertEqual(table["embedding"].type,
                         pyarrow.list_(pyarrow.float32()))
        self.assertEqual(table["embedding"].to_pylist(), [[3, 1], None, None])

    def test_functions_of_spark(self):
        batches = [pandas.Series(["a", None, "b"]),
                   pandas.Series([], dtype=object),
                   pandas.Series(["c"], index=[7])]
        made = list(rows_of(self.stage(), iter(batches)))
        self.assertEqual([list(series) for series in made],
                         [["A", None, "B"], [], ["C"]])
        self.server.statuses = {"b": [StatusCode.INTERNAL]}
        first, _, last = rows_of(self.stage(errors="column"), iter(batches))
        self.assertEqual(first["result"].tolist(), ["A", None, None])
        self.assertEqual(first["error"].tolist(),
                         [None, None, "INTERNAL: no b"])
        self.assertEqual(last["result"].tolist(), ["C"])
        vectors, = rows_of(self.stage(Embed), iter(batches[:1]))
        self.assertEqual([None if vector is None else vector.tolist()
                          for vector in vectors], [[1, 1], None, [1, 1]])


if __name__ == "__main__":
    unittest.main()
