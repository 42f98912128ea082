"""What a client makes of servers that fail, are full, or go. Started by
python_client_test.sh."""

import asyncio
import concurrent.futures
import os
import pathlib
import time
import unittest

import attend
import grpc
from fake import NOT_SERVING, FakeServer, pushback, retry_info
from opentelemetry import trace
from served import TIMEOUT, ServedTest, free_port, start

FULL, GONE = grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE
TINY = pathlib.Path(__file__).resolve().parents[2] / "golden/evaluation"
QUICK = attend.Retry(initial_backoff=0.01)


class Blocking:
    """The calls of the tests by attend.Client."""

    def generate(self, target, retry=QUICK, **options):
        with attend.Client(target, retry=retry) as client:
            return client.generate("a", **options)[0].text

    def stream(self, target, text="a"):
        """Yields what comes; closes the iterator in the end."""
        with attend.Client(target, retry=QUICK) as client:
            parts = client.stream(text, timeout=TIMEOUT)
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

    def stream(self, target, text="a", limit=None):
        async def run():
            found = []
            async with attend.aio.Client(target, retry=QUICK) as client:
                parts = client.stream(text, timeout=TIMEOUT)
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

    def test_a_stream_that_has_begun(self):
        server = self.fake((GONE,))
        server.parts_before_failure = 1
        with self.assertRaises(attend.errors.Unavailable):
            list(self.stream(server.address))
        self.assertEqual(len(server.seen), 1)

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


class BalanceTest(unittest.TestCase):

    def test_calls_go_to_servers_that_are_well(self):
        servers = [FakeServer(name) for name in ("one", "two")]
        for server in servers:
            self.addCleanup(server.stop)
        with attend.Client([server.address for server in servers]) as client:
            def answers(wanted):
                """Calls until the last ten answers are those."""
                limit = time.monotonic() + TIMEOUT
                last = []
                while time.monotonic() < limit:
                    last = [*last[-9:], client.generate("a")[0].text]
                    if len(last) == 10 and set(last) == wanted:
                        return
                self.fail(f"{last}, not {wanted}")

            answers({"one", "two"})
            both = [client.generate("a")[0].text for _ in range(10)]
            self.assertEqual(both.count("one"), 5)  # in turn
            servers[0].health.set("", NOT_SERVING)
            answers({"two"})


class KilledServerTest(ServedTest):
    """Two servers, one of which is killed under load."""

    model = TINY

    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.other_address = f"127.0.0.1:{port}"
        cls.other = start(port, f"--model={TINY}")
        cls.addClassCleanup(cls.other.wait, TIMEOUT)
        cls.addClassCleanup(cls.other.kill)
        super().setUpClass()

    def test_no_call_fails(self):
        # Until the other is there, too.
        patient = attend.Retry(1000, max_backoff=0.1)
        with attend.Client(self.other_address, timeout=TIMEOUT, retry=patient,
                           channel_options=[
                               ("grpc.max_reconnect_backoff_ms", 200),
                           ]) as client:
            expected = client.generate("the cat", max_new_tokens=8)[0].text
        with attend.Client([self.other_address, self.address]) as client, \
                concurrent.futures.ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(client.generate, "the cat", max_new_tokens=8)
                     for _ in range(200)]
            calls[20].result()
            self.other.kill()
            self.assertEqual({call.result()[0].text for call in calls},
                             {expected})


if __name__ == "__main__":
    unittest.main()
