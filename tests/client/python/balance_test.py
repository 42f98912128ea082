"""How a client uses several servers. Started by python_client_test.sh."""

import concurrent.futures
import os
import time
import unittest

import attend
from fake import NOT_SERVING, FakeServer
from served import TIMEOUT, ServedTest, free_port, start


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

    def test_calls_that_begin_alike_go_to_one_server(self):
        servers = {name: FakeServer(name) for name in ("one", "two", "three")}
        for server in servers.values():
            self.addCleanup(server.stop)
        addresses = [server.address for server in servers.values()]
        with attend.Client(addresses, affinity=8) as client:
            def server_of(text):
                return client.generate(text)[0].text

            # Until there is a connection to each.
            limit = time.monotonic() + TIMEOUT
            found = {}
            while len(set(found.values())) < 3:
                self.assertLess(time.monotonic(), limit)
                for key in range(60):
                    found[key] = server_of(f"{key:8} and more")
            for key, name in found.items():
                self.assertEqual(server_of(f"{key:8} and other"), name)
            # Only what went to a server that is ill goes elsewhere.
            servers["one"].health.set("", NOT_SERVING)
            key = next(key for key in found if found[key] == "one")
            while server_of(f"{key:8}") == "one":
                self.assertLess(time.monotonic(), limit)
            for key, name in found.items():
                if name != "one":
                    self.assertEqual(server_of(f"{key:8}"), name)

    def test_what_calls_begin_with(self):
        server = FakeServer()
        self.addCleanup(server.stop)
        with attend.Client(server.address, affinity=3) as client:
            for source in ("abcd", "abce", "abd", attend.tokens([1, 2, 3]),
                           attend.tokens([1, 2]), attend.tokens([1, 3]),
                           attend.chat([{"role": "a", "content": "b"}]),
                           attend.chat([{"role": "a", "content": "c"}])):
                client.generate([source, "other"])
            list(client.stream("abcd"))
        keys = [call["x-attend-affinity"] for call in server.seen]
        self.assertEqual([keys.index(key) for key in keys],
                         [0, 0, 2, 3, 3, 5, 6, 7, 0])
        with attend.Client(server.address) as client:
            client.generate("a")
        self.assertNotIn("x-attend-affinity", server.seen[-1])


class KilledServerTest(ServedTest):
    """Two servers, one of which is killed under load."""

    model = os.environ["ATTEND_MODEL"]

    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.other_address = f"127.0.0.1:{port}"
        cls.other = start(port, f"--model={cls.model}")
        cls.addClassCleanup(cls.other.wait, TIMEOUT)
        cls.addClassCleanup(cls.other.kill)
        super().setUpClass()

    def test_no_call_fails(self):
        # Until the other is there, too.
        patient = attend.Retry(1000, max_backoff=0.1)
        long = {"num_beams": 1, "min_new_tokens": 250, "max_new_tokens": 250}
        with attend.Client(self.other_address, timeout=TIMEOUT, retry=patient,
                           channel_options=[
                               ("grpc.max_reconnect_backoff_ms", 200),
                           ]) as client:
            expected = client.generate("The cat", max_new_tokens=8)[0].text
            whole = client.generate("The dog", **long)[0].text
        with attend.Client([self.other_address, self.address]) as client, \
                concurrent.futures.ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(client.generate, "The cat", max_new_tokens=8)
                     for _ in range(100)]
            calls[20].result()
            streams = [client.stream("The dog", **long) for _ in range(6)]
            texts = [next(stream) for stream in streams]
            self.other.kill()
            with self.assertLogs("attend", "INFO") as log:
                for i, stream in enumerate(streams):
                    texts[i] += "".join(stream)
            self.assertEqual(texts, [whole] * 6)
            self.assertEqual({call.result()[0].text for call in calls},
                             {expected})
            self.assertIn("made again", log.output[0])


if __name__ == "__main__":
    unittest.main()
