"""How the scripts reach a server. Started by python_client_test.sh."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import attend_channel
import grpc
from attend.v1 import attend_pb2 as pb
from attend.v1 import attend_pb2_grpc
from lm_eval_attend import AttendLM
from served import TIMEOUT, ServedTest

NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"


class TlsTest(ServedTest):
    """A server that asks clients for certificates."""

    model = os.environ["ATTEND_MODEL"]

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.files = pathlib.Path(directory.name)
        cls.openssl(f"req -x509 {NEW_KEY} -subj /CN=ca -keyout ca.key "
                    "-out ca.crt")
        for name in "server", "client":
            cls.openssl(f"req {NEW_KEY} -subj /CN={name} -keyout {name}.key "
                        "-addext subjectAltName=DNS:served.test "
                        f"-out {name}.csr")
            cls.openssl(f"x509 -req -in {name}.csr -CA ca.crt -CAkey ca.key "
                        f"-copy_extensions copy -out {name}.crt")
        cls.flags = [f"--tls-cert={cls.files}/server.crt",
                     f"--tls-key={cls.files}/server.key",
                     f"--tls-client-ca={cls.files}/ca.crt"]
        cls.tls = dict(ca=f"{cls.files}/ca.crt", cert=f"{cls.files}/client.crt",
                       key=f"{cls.files}/client.key", server_name="served.test")
        super().setUpClass()

    @classmethod
    def openssl(cls, words):
        subprocess.run(["openssl", *words.split()], cwd=cls.files, check=True,
                       capture_output=True)

    @classmethod
    def open_channel(cls):
        return attend_channel.open_channel(cls.address, **cls.tls)

    def run_script(self, *words, **variables):
        return subprocess.run(
            [sys.executable, os.environ["ATTEND_TRANSLATE"], "Hello.", *words],
            capture_output=True, text=True, timeout=TIMEOUT,
            env=os.environ | {"ATTEND_ADDRESS": self.address} | variables)

    def test_scripts_take_options_and_variables(self):
        options = [f"--{name.replace('_', '-')}={value}"
                   for name, value in self.tls.items()]
        output = self.run_script(*options)
        self.assertEqual(output.returncode, 0, output.stderr)
        variables = {f"ATTEND_{name.upper()}": value
                     for name, value in self.tls.items()}
        self.assertEqual(self.run_script(**variables).stdout, output.stdout)

    def test_who_may_not_come_in(self):
        for words in ([], ["--tls"], [f"--ca={self.tls['ca']}"],
                      [f"--ca={self.tls['ca']}", f"--cert={self.tls['cert']}",
                       f"--key={self.tls['key']}"]):  # the name is another
            output = self.run_script(*words)
            self.assertEqual(output.returncode, 1, words)
            self.assertIn("UNAVAILABLE", output.stderr, words)

    def test_the_harness(self):
        # Reached: the server says what its model is.
        with self.assertRaisesRegex(ValueError, "does not continue text"):
            AttendLM(self.address, **self.tls)

    def test_wrong_files_are_named(self):
        ca = self.tls["ca"]
        for words, expected in (
            (["--ca=/no/where"], "/no/where: No such file"),
            ([f"--ca={self.files}"], f"{self.files}: Is a directory"),
            ([f"--ca={self.tls['key']}"], "client.key: has no certificate"),
            ([f"--cert={ca}"], "cert and key must be given together"),
            ([f"--cert={ca}", f"--key={ca}"], "ca.crt: has no private key"),
        ):
            output = self.run_script(*words)
            self.assertEqual(output.returncode, 1)
            self.assertIn(expected, output.stderr)
            self.assertNotIn("Traceback", output.stderr)


class Servicer(attend_pb2_grpc.AttendServicer):
    def __init__(self):
        self.seen = []

    def note(self, context):
        metadata = dict(context.invocation_metadata())
        self.seen.append((metadata.get("authorization"),
                          metadata.get("x-request-id")))

    def ListModels(self, request, context):
        self.note(context)
        return pb.ListModelsResponse()

    def GenerateStream(self, request, context):
        self.note(context)
        yield pb.GenerateChunk()


class TokenTest(unittest.TestCase):
    def setUp(self):
        self.servicer = Servicer()
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
        attend_pb2_grpc.add_AttendServicer_to_server(self.servicer, server)
        self.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())

    def seen(self, **given):
        with attend_channel.open_channel(self.address, **given) as channel:
            stub = attend_pb2_grpc.AttendStub(channel)
            stub.ListModels(pb.ListModelsRequest(), timeout=TIMEOUT,
                            metadata=[("x-request-id", "a")])
            list(stub.GenerateStream(pb.GenerateRequest(), timeout=TIMEOUT))
        seen, self.servicer.seen = self.servicer.seen, []
        return seen

    def test_it_is_sent_with_each_call(self):
        self.assertEqual(self.seen(), [(None, "a"), (None, None)])
        self.assertEqual(self.seen(token="t"),
                         [("Bearer t", "a"), ("Bearer t", None)])
        with unittest.mock.patch.dict(os.environ, ATTEND_TOKEN="v"):
            self.assertEqual(self.seen()[0][0], "Bearer v")
            self.assertEqual(self.seen(token="t")[0][0], "Bearer t")

    def test_wrong_values(self):
        for token in "a b", "a\n", "ä":
            with self.assertRaisesRegex(ValueError, "the token has") as raised:
                self.seen(token=token)
            self.assertNotIn(token, str(raised.exception))
        with self.assertRaisesRegex(ValueError, "tls is 'maybe'"):
            self.seen(tls="maybe")
        parser = argparse.ArgumentParser()
        attend_channel.add_arguments(parser)
        with self.assertRaises(SystemExit):
            attend_channel.channel_of(parser.parse_args(["--token= "]))


if __name__ == "__main__":
    unittest.main()
