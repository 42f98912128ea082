"""The configurations of proxies. With the proxies themselves, where they are."""

import os
import re
import shutil
import subprocess
import unittest

from deploy_files import ROOT, read_yaml

FOLDER = ROOT / "deploy/proxies"
NAMES = ["envoy.yaml", "haproxy.cfg", "nginx.conf"]
WATCH = "/grpc.health.v1.Health/Watch"


class ProxiesTest(unittest.TestCase):

    def test_all_have_the_same_ports_and_replicas(self):
        self.assertEqual(sorted(path.name for path in FOLDER.iterdir()), NAMES)
        for name in NAMES:
            text = re.sub(r"^\s*#.*", "", (FOLDER / name).read_text(),
                          flags=re.MULTILINE)
            self.assertEqual(sorted(re.findall(r"\b5005\d\b", text)),
                             ["50050", "50051", "50052", "50053"], name)
            # Clients do not take the health of one replica for that of all.
            self.assertEqual(text.count(WATCH), 1, name)
            self.assertRegex(text, r'grpc-status\b.{0,10}\b12\b', name)

    def test_envoy_leaves_time_to_the_client(self):
        [config] = read_yaml("deploy/proxies/envoy.yaml")
        [listener] = config["static_resources"]["listeners"]
        manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
        self.assertEqual(manager["stream_idle_timeout"], "0s")
        watch, calls = manager["route_config"]["virtual_hosts"][0]["routes"]
        self.assertEqual(watch["match"]["path"], WATCH)
        self.assertEqual(calls["route"]["timeout"], "0s")
        self.assertEqual(
            calls["route"]["max_stream_duration"]["grpc_timeout_header_max"],
            "0s")
        # What the server answered is not retried here: the client is told when.
        self.assertEqual(calls["route"]["retry_policy"]["retry_on"],
                         "connect-failure,refused-stream")

    def test_the_proxies_take_them(self):
        for program, arguments in (
                ("envoy", ["--mode", "validate", "-c", "envoy.yaml"]),
                ("haproxy", ["-c", "-f", "haproxy.cfg"]),
                ("nginx", ["-t", "-c", str(FOLDER / "nginx.conf")])):
            path = shutil.which(program, path="/usr/sbin:/usr/bin")
            # nginx opens its log, which is root's.
            if path and (program != "nginx" or os.geteuid() == 0):
                subprocess.run([path, *arguments], cwd=FOLDER, check=True,
                               capture_output=True)


if __name__ == "__main__":
    unittest.main()
