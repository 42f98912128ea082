"""How a client reaches its servers: TLS, tokens, variables. Started by
python_client_test.sh."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

import attend
import grpc
from attend.lm_eval import AttendLM
from fake import FakeServer
from served import ServedTest

NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
ONCE = attend.Retry(max_attempts=1)


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
                        "-addext subjectAltName=DNS:served.test,DNS:localhost "
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
        ca, key, cert = ((cls.files / name).read_bytes() for name in
                         ("ca.crt", "client.key", "client.crt"))
        return grpc.secure_channel(
            cls.address, grpc.ssl_channel_credentials(ca, key, cert),
            [("grpc.ssl_target_name_override", "served.test")])

    def names(self, *target, **options):
        with attend.Client(*target, **options) as client:
            return [model.name for model in client.models()]

    def test_arguments_and_variables(self):
        self.assertEqual(self.names(self.address, **self.tls), ["en-de"])
        self.assertEqual(
            self.names([self.address, self.address], **self.tls), ["en-de"])
        # Of several, the first has the name in the certificate.
        port = self.address.rpartition(":")[2]
        files = {name: self.tls[name] for name in ("ca", "cert", "key")}
        self.assertEqual(self.names(f"localhost:{port},{self.address}",
                                    **files), ["en-de"])
        variables = {f"ATTEND_{name.upper()}": value
                     for name, value in self.tls.items()}
        with unittest.mock.patch.dict(os.environ, variables,
                                      ATTEND_ADDRESS=self.address):
            self.assertEqual(self.names(), ["en-de"])

    def test_who_may_not_come_in(self):
        wrong_name = {**self.tls, "server_name": "other.test"}
        for options in ({}, {"tls": True}, {"ca": self.tls["ca"]}, wrong_name):
            with self.assertRaises(attend.errors.Unavailable):
                self.names(self.address, retry=ONCE, **options)

    def test_the_harness(self):
        # Reached: the server says what its model is.
        with self.assertRaisesRegex(ValueError, "does not continue text"):
            AttendLM(self.address, **self.tls)

    def test_wrong_files_are_named(self):
        ca, key = self.tls["ca"], self.tls["key"]
        for error, options, expected in (
            (OSError, {"ca": "/no/where"}, "/no/where"),
            (OSError, {"ca": str(self.files)}, str(self.files)),
            (ValueError, {"ca": key}, "client.key: has no certificate"),
            (ValueError, {"cert": ca}, "cert and key must be given together"),
            (ValueError, {"cert": ca, "key": ca}, "ca.crt: has no private key"),
        ):
            with self.assertRaisesRegex(error, expected):
                attend.Client(self.address, **options)


class TokenTest(unittest.TestCase):

    def setUp(self):
        self.server = FakeServer()
        self.addCleanup(self.server.stop)

    def seen(self, **options):
        """The tokens of a call and of a stream."""
        with attend.Client(self.server.address, **options) as client:
            client.generate("a")
            list(client.stream("a"))
        seen = [call.get("authorization") for call in self.server.seen]
        self.server.seen.clear()
        return seen

    def test_it_is_sent_with_each_call(self):
        self.assertEqual(self.seen(), [None, None])
        self.assertEqual(self.seen(token="t"), ["Bearer t", "Bearer t"])
        with unittest.mock.patch.dict(os.environ, ATTEND_TOKEN="v"):
            self.assertEqual(self.seen(), ["Bearer v", "Bearer v"])
            self.assertEqual(self.seen(token="t"), ["Bearer t", "Bearer t"])

    def test_no_tls_is_no_tls_whatever_variables_say(self):
        with unittest.mock.patch.dict(
                os.environ, ATTEND_TLS="true", ATTEND_SERVER_NAME="a.test"):
            self.assertEqual(self.seen(tls=False), [None, None])
        with unittest.mock.patch.dict(
                os.environ, ATTEND_TLS="false", ATTEND_SERVER_NAME="a.test"):
            with self.assertRaises(attend.errors.Unavailable):
                self.seen(retry=ONCE)

    def test_wrong_values(self):
        for token in "a b", "a\n", "ä":
            with self.assertRaisesRegex(ValueError, "the token has") as raised:
                attend.Client(token=token)
            self.assertNotIn(token, str(raised.exception))
        with unittest.mock.patch.dict(os.environ, ATTEND_TLS="maybe"):
            with self.assertRaisesRegex(ValueError, "tls is 'maybe'"):
                attend.Client()


class AddressTest(unittest.TestCase):

    def test_what_is_no_address(self):
        for target in ("a:1,b", ["a:1", ":2"], ["a:1", "b:c"]):
            with self.assertRaisesRegex(ValueError, "must be HOST:PORT"):
                attend.Client(target)
        with self.assertRaisesRegex(ValueError, "is empty"):
            attend.Client([])


if __name__ == "__main__":
    unittest.main()
