"""What a client makes of servers that fail, are full, or hang. Started by
python_client_test.sh."""

import asyncio
import threading
import time
import unittest

import attend
import grpc
from attend._hedge import Hedge
from attend._retry import Attempts
from attend.v1 import attend_pb2 as pb
from fake import FakeServer, pushback, retry_info
from opentelemetry import trace
from served import TIMEOUT

FULL, GONE = grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE
GREEDY = {"num_beams": 1, "num_return_sequences": 1}
QUICK = attend.Retry(initial_backoff=0.01)


class Blocking:
    """The calls of the tests by attend.Client."""

    def generate(self, target, retry=QUICK, **options):
        with attend.Client(target, retry=retry) as client:
            return client.generate("a", **options)[0].text

    def stream(self, target, text="a", retry=QUICK, **options):
        """Yields what comes; closes the iterator in the end."""
        with attend.Client(target, retry=retry) as client:
            parts = client.stream(text, timeout=TIMEOUT, **options)
            try:
                yield from parts
            finally:
                parts.close()

    def stream_a_part(self, target, text):
        parts = self.stream(target, text)
        try:
            return next(parts)
        finally:
            parts.close()


class Asynchronous:
    """The same by attend.aio.Client."""

    def generate(self, target, retry=QUICK, **options):
        async def run():
            async with attend.aio.Client(target, retry=retry) as client:
                return (await client.generate("a", **options))[0].text
        return asyncio.run(run())

    def stream(self, target, text="a", retry=QUICK, limit=None, **options):
        async def run():
            found = []
            async with attend.aio.Client(target, retry=retry) as client:
                parts = client.stream(text, timeout=TIMEOUT, **options)
                async for part in parts:
                    found.append(part)
                    if len(found) == limit:
                        await parts.aclose()
            return found
        return asyncio.run(run())

    def stream_a_part(self, target, text):
        part, = self.stream(target, text, limit=1)
        return part


class Cases:

    def fake(self, *failures, name="fake"):
        server = FakeServer(name, failures)
        self.addCleanup(server.stop)
        return server

    def test_the_server_says_when(self):
        for hint in (retry_info(0.3), pushback(300)):
            for code in (FULL, GONE):
                server = self.fake((code, hint))
                begin = time.monotonic()
                self.assertEqual(self.generate(server.address, timeout=9),
                                 "fake")
                self.assertGreaterEqual(time.monotonic() - begin, 0.3)
                # The attempts share the timeout, which gRPC rounds.
                first, second = server.remaining
                self.assertLess(second, first - 0.15)

    def test_the_server_does_not_say_when(self):
        server = self.fake((GONE,), (GONE,), (GONE,))
        self.assertEqual(self.generate(server.address), "fake")
        self.assertEqual(len(server.seen), 4)

    def test_the_last_attempt(self):
        server = self.fake((GONE,), (GONE,), (GONE,))
        with self.assertRaises(attend.errors.Unavailable) as raised:
            self.generate(server.address,
                          retry=attend.Retry(2, initial_backoff=0.01))
        self.assertEqual(len(server.seen), 2)
        self.assertEqual(raised.exception.message, "failed")
        self.assertIsNone(raised.exception.retry_after)

    def test_what_is_not_made_again(self):
        for failure, kind in (
            ((FULL,), attend.errors.ResourceExhausted),
            ((GONE, pushback(-1)), attend.errors.Unavailable),
            ((GONE, pushback("soon")), attend.errors.Unavailable),
            ((GONE, pushback(-1), retry_info(0)), attend.errors.Unavailable),
            ((grpc.StatusCode.INTERNAL, pushback(1)), attend.errors.Internal),
            ((grpc.StatusCode.CANCELLED,), attend.errors.Cancelled),
            ((FULL, ("grpc-status-details-bin", b"\xff")),
             attend.errors.ResourceExhausted),
        ):
            server = self.fake(failure)
            with self.assertRaises(kind):
                self.generate(server.address)
            self.assertEqual(len(server.seen), 1, failure)

    def test_later_than_the_deadline(self):
        server = self.fake((FULL, retry_info(60)))
        begin = time.monotonic()
        with self.assertRaises(attend.errors.ResourceExhausted) as raised:
            self.generate(server.address, timeout=20)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(raised.exception.retry_after, 60)

    def test_a_stream_that_has_not_begun(self):
        server = self.fake((FULL, pushback(10)), (GONE,))
        self.assertEqual(list(self.stream(server.address)), ["fake"])
        self.assertEqual(len(server.seen), 3)

    def test_a_stream_that_breaks_off_goes_on(self):
        server = self.fake((GONE,), (GONE, pushback(10)))
        server.beginnings = [["ab", "c"], ["a"], ["abc", "d"]]
        self.assertEqual("|".join(self.stream(server.address)), "ab|c|d|fake")
        # Sampled results are the same again.
        seeds = [params.seed for params in server.params]
        self.assertEqual(seeds, seeds[:1] * 3)
        server.beginnings, server.failures = [["ab"], ["ab"]], [(GONE,)]
        self.assertEqual(
            "".join(self.stream(server.address, seed=7)), "abfake")
        self.assertEqual([params.seed for params in server.params[3:]],
                         [7, 7])

    def test_a_stream_goes_on_after_its_tokens(self):
        server = self.fake((GONE,), (GONE,))
        server.model = pb.Model(continues_source=True, eos_ids=[ord("e")],
                                defaults=GREEDY)
        server.beginnings = [["ab", "c"], ["d"]]
        self.assertEqual(
            "|".join(self.stream(server.address, max_new_tokens=9,
                                 min_new_tokens=4, top_k=3)),
            "ab|c|d|fake")
        asked = [(params.max_new_tokens, params.min_new_tokens, params.top_k,
                  "".join(map(chr, params.prefix_tokens.ids)))
                 for params in server.params]
        self.assertEqual(asked, [(9, 4, 3, ""), (6, 1, 3, "abc"),
                                 (5, 0, 3, "abcd")])

    def test_streams_that_are_made_again_from_their_beginning(self):
        greedy = pb.Model(continues_source=True, eos_ids=[ord("e")],
                          defaults=GREEDY)
        for beginning, model, options in (
            ("ab", greedy, {}),
            ("ab", greedy, {"max_new_tokens": 2}),
            ("ae", greedy, {"max_new_tokens": 9}),
            ("ab", greedy, {"max_new_tokens": 9, "stop_ids": [ord("b")]}),
            ("ab", greedy, {"max_new_tokens": 9, "num_beams": 2}),
            ("ab", greedy, {"max_new_tokens": 9, "do_sample": True}),
            ("ab", greedy, {"max_new_tokens": 9, "stop_strings": ["x"]}),
            ("ab", greedy, {"max_new_tokens": 9, "presence_penalty": 1}),
            ("ab", greedy, {"max_new_tokens": 9, "prefix_text": "x"}),
            ("ab", greedy, {"max_new_tokens": 9,
                            "constraint": {"regex": "a.*"}}),
            ("ab", pb.Model(continues_source=True, defaults={
                "num_return_sequences": 1, "num_beams": 4}),
             {"max_new_tokens": 9}),
            ("ab", pb.Model(defaults=GREEDY), {"max_new_tokens": 9}),
        ):
            server = self.fake((GONE,))
            server.model = model
            server.beginnings = [[beginning], [beginning, "c"]]
            self.assertEqual("|".join(self.stream(server.address, **options)),
                             f"{beginning}|c|fake")
            first, second = server.params
            self.assertEqual(first, second, options)

    def test_a_stream_that_has_another_text(self):
        for again in ["ac"], ["a", None]:
            server = self.fake((GONE,))
            server.beginnings = [["ab"], again]
            with self.assertRaisesRegex(attend.errors.Unavailable,
                                        "another text when it is made again"):
                list(self.stream(server.address))

    def test_a_stream_that_is_not_made_again(self):
        server = self.fake((GONE,))
        server.beginnings = [["ab"]]
        with self.assertRaises(attend.errors.Unavailable):
            list(self.stream(server.address, retry=attend.Retry(resume=False)))
        self.assertEqual(len(server.seen), 1)

    def test_a_call_that_a_proxy_cuts(self):
        for code, details in (
            (grpc.StatusCode.INTERNAL, "Received RST_STREAM with error code 2"),
            (grpc.StatusCode.UNKNOWN, "Stream removed"),
            (grpc.StatusCode.CANCELLED, "CANCELLED"),
        ):
            server = self.fake()
            server.details = details
            for retry in QUICK, attend.Retry(hedge_after=TIMEOUT):
                server.seen, server.failures = [], [(code,)]
                self.assertEqual(self.generate(server.address, retry), "fake")
                self.assertEqual(len(server.seen), 2)

    def test_the_first_of_two_answers_counts(self):
        hedged = attend.Retry(hedge_after=0.5)
        server = self.fake()
        server.delays = [3]
        begin = time.monotonic()
        self.assertEqual(self.generate(server.address, hedged), "fake")
        self.assertLess(time.monotonic() - begin, 2.9)
        self.assertEqual(len(server.seen), 2)
        # Nor does the error of one count if the other answers.
        server.delays, server.failures = [2], [(grpc.StatusCode.INTERNAL,)]
        self.assertEqual(self.generate(server.address, hedged), "fake")
        self.assertEqual(len(server.seen), 4)
        # In time: once.
        self.assertEqual(self.generate(server.address, hedged), "fake")
        self.assertEqual(len(server.seen), 5)
        server.failures = [(grpc.StatusCode.INTERNAL,)]
        with self.assertRaises(attend.errors.Internal):
            self.generate(server.address, hedged)

    def test_both_calls_fail(self):
        server = self.fake(*[(grpc.StatusCode.INTERNAL,)] * 2)
        server.delays = [0.5, 0.5]
        with self.assertRaises(attend.errors.Internal):
            self.generate(server.address, attend.Retry(hedge_after=0.2))
        self.assertEqual(len(server.seen), 2)

    def test_closing_a_stream_cancels_it(self):
        server = self.fake()
        self.assertEqual(self.stream_a_part(server.address, "for ever"), "a")
        self.assertTrue(server.ended.wait(TIMEOUT))

    def test_metadata(self):
        server = self.fake()
        self.generate(server.address, metadata=[("x-request-id", "p-7")])
        self.assertEqual(server.seen[-1]["x-request-id"], "p-7")
        self.assertNotIn("traceparent", server.seen[-1])

    def test_trace(self):
        server = self.fake()
        given = f"00-{1:032x}-{2:016x}-01"
        self.generate(server.address, traceparent=given)
        self.assertEqual(server.seen[-1]["traceparent"], given)
        span = trace.NonRecordingSpan(trace.SpanContext(
            3, 4, True, trace.TraceFlags(1)))
        with trace.use_span(span):
            self.generate(server.address)
        self.assertEqual(server.seen[-1]["traceparent"],
                         f"00-{3:032x}-{4:016x}-01")


class BlockingTest(Blocking, Cases, unittest.TestCase):
    pass


class AsynchronousTest(Asynchronous, Cases, unittest.TestCase):
    pass


class CancellingServer(FakeServer):
    """Cancels in the call of that number, and answers none."""

    def __init__(self, cancellation, number):
        super().__init__()
        self.cancellation, self.number = cancellation, number

    def Generate(self, request, context):
        self.note(context)
        ended = threading.Event()
        if not context.add_callback(ended.set):
            ended.set()
        if len(self.seen) == self.number:
            self.cancellation.cancel()
        ended.wait(TIMEOUT)


class CancellationTest(unittest.TestCase):

    def setUp(self):
        self.cancellation = attend.Cancellation()

    def client(self, server, **options):
        self.addCleanup(server.stop)
        client = attend.Client(server.address, **options)
        self.addCleanup(client.close)
        return client

    def assert_cancelled(self, call, *given, **options):
        with self.assertRaises(attend.errors.Cancelled):
            call(*given, **options, timeout=TIMEOUT,
                 cancellation=self.cancellation)

    def test_calls_by_another_thread(self):
        for hedge_after, number in (None, 1), (TIMEOUT, 1), (0.05, 2):
            with self.subTest(hedge_after=hedge_after):
                self.cancellation = attend.Cancellation()
                server = CancellingServer(self.cancellation, number)
                client = self.client(
                    server, retry=attend.Retry(hedge_after=hedge_after))
                self.assert_cancelled(client.generate, "a")
                self.assertEqual(len(server.seen), number)

    def test_several_streams_at_once(self):
        server = FakeServer()
        client = self.client(server)
        running = [client.stream("for ever", timeout=TIMEOUT,
                                 cancellation=self.cancellation)
                   for _ in range(3)]
        for each in running:
            self.assertEqual(next(each), "a")
        self.cancellation.cancel()
        for each in running:
            with self.assertRaises(attend.errors.Cancelled):
                list(each)  # what had come before is read
        self.assertTrue(server.ended.wait(TIMEOUT))

    def test_calls_that_begin_later(self):
        client = self.client(FakeServer())
        self.assertFalse(self.cancellation.cancelled)
        self.assertEqual(client.generate(
            "a", cancellation=self.cancellation)[0].text, "fake")
        self.cancellation.cancel()
        self.assertTrue(self.cancellation.cancelled)
        self.assert_cancelled(client.generate, "a")
        self.assert_cancelled(
            lambda *given, **options: list(client.stream(*given, **options)),
            "for ever")
        self.assertEqual(client.generate("a")[0].text, "fake")

    def test_what_is_no_cancellation(self):
        client = self.client(FakeServer())
        with self.assertRaisesRegex(TypeError, "is 7, must be an attend.Can"):
            client.generate("a", cancellation=7)

    def test_asyncio_has_tasks(self):
        with self.assertRaisesRegex(TypeError, "cancel the task"):
            Asynchronous().generate("127.0.0.1:1",
                                    cancellation=self.cancellation)


class Refused(grpc.RpcError):
    def code(self):
        return GONE

    def details(self):
        return "gone"

    def trailing_metadata(self):
        return []


class AttemptsTest(unittest.TestCase):
    def test_the_pause_has_its_limit_after_any_number_of_attempts(self):
        attempts = Attempts(attend.Retry(2**31, max_backoff=2.0), None)
        for _ in range(1100):  # 2.0 ** 1100 is no float
            pause = attempts.pause(Refused())
        self.assertTrue(1.6 <= pause <= 2.4, pause)


class HedgeTest(unittest.TestCase):

    def test_the_second_call_goes_elsewhere(self):
        server = FakeServer()
        self.addCleanup(server.stop)
        server.delays = [0.5]
        with attend.Client(server.address, affinity=8,
                           retry=attend.Retry(hedge_after=0.05)) as client:
            client.generate("a")
        first, second = [call["x-attend-affinity"] for call in server.seen]
        self.assertNotEqual(first, second)

    def test_not_all_calls_are_hedged(self):
        server = FakeServer()
        self.addCleanup(server.stop)
        retry = attend.Retry(hedge_after=0.001)
        with attend.Client(server.address, retry=retry) as client:
            server.delays = [0.05] * 40
            for _ in range(20):
                client.generate("a")
            self.assertEqual(len(server.seen), 20 + 10)

    def test_both_calls_end_in_one_turn(self):
        async def first(answer_of_first, answer_of_second):
            calls = [asyncio.get_running_loop().create_future()
                     for _ in range(2)]

            def send(second):
                if second:
                    asyncio.get_running_loop().call_later(0.01, end)
                return calls[second]

            def end():
                for call, answer in zip(calls, (answer_of_first,
                                                answer_of_second)):
                    if answer:
                        call.set_result(answer)
                    else:
                        call.set_exception(ValueError("failed"))

            return await Hedge(0.01).first_answer_async(send)

        for _ in range(20):  # sets have no order
            self.assertEqual(asyncio.run(first("a", None)), "a")
            self.assertEqual(asyncio.run(first(None, "b")), "b")
        with self.assertRaises(ValueError):
            asyncio.run(first(None, None))


if __name__ == "__main__":
    unittest.main()
