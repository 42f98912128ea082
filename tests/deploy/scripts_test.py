"""The shell script that asks the HTTP port."""

import subprocess
import unittest

import attend_server

ROOT = attend_server.ROOT


def http_get(port, path):
    return subprocess.run(
        [ROOT / "deploy/http_get.sh", str(port), path],
        capture_output=True, text=True)


class HttpGetTest(unittest.TestCase):
    def test_prints_the_body_and_fails_without_a_200(self):
        with attend_server.running() as (port, _):
            ready = http_get(port, "/readyz")
            missing = http_get(port, "/missing")
        stopped = http_get(port, "/readyz")
        self.assertEqual((ready.returncode, ready.stdout), (0, "ok\n"))
        self.assertEqual(missing.returncode, 1)
        self.assertNotEqual(stopped.returncode, 0)


if __name__ == "__main__":
    unittest.main()
