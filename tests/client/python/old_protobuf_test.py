"""The package with the protobuf of the protoc that made its stubs: years older
than the one of the other tests. Started by python_client_test.sh."""

import unittest

import attend
import google.protobuf


class OldProtobufTest(unittest.TestCase):

    def test_it_is_old(self):
        self.assertLess(int(google.protobuf.__version__.split(".")[0]), 6)

    def test_a_request_is_made(self):
        with attend.Client("127.0.0.1:1",
                           retry=attend.Retry(max_attempts=1)) as client:
            with self.assertRaises(attend.errors.Unavailable):
                client.generate("Hello.", constraint={"regex": "[a-z]+"},
                                logit_bias={7: 1.5}, early_stopping="never")


if __name__ == "__main__":
    unittest.main()
