"""The Dockerfile, the compose file and the files for KServe."""

import fnmatch
import json
import re
import subprocess
import unittest

import attend_server
from deploy_files import ROOT, DeployTest, dockerfile, drain_seconds, read_yaml


class DockerfileTest(DeployTest):
    def test_copied_files_exist_and_are_sent(self):
        ignored = [line.rstrip("/") for line in
                   (ROOT / ".dockerignore").read_text().splitlines()
                   if line and not line.startswith("#")]
        copies = [rest.split() for name, rest in dockerfile()
                  if name == "COPY" and "--from=" not in rest]
        self.assertTrue(copies)
        for *sources, _ in copies:
            for source in sources:
                self.assertTrue((ROOT / source).exists(), source)
                top = source.split("/")[0]
                self.assertFalse(any(fnmatch.fnmatch(top, pattern)
                                     for pattern in ignored), source)

    def test_runs_without_rights_by_default(self):
        users = [rest for name, rest in dockerfile() if name == "USER"]
        # A number: Kubernetes cannot tell that a name is not root.
        self.assertRegex(users[-1], r"^[1-9]\d*:[1-9]\d*$")

    def test_all_stages_have_one_base(self):
        known = {"debian:trixie-slim"}
        for name, rest in dockerfile():
            if name == "FROM":
                base, *names = rest.split(" AS ")
                self.assertIn(base, known)
                known.update(names)

    def test_grpc_is_the_patched_one(self):
        commands = " && ".join(rest for name, rest in dockerfile()
                               if name == "RUN").split(" && ")
        commands = [" ".join(command.split()) for command in commands]
        build = commands.index("deploy/grpc/build.sh")
        [configure] = [i for i, command in enumerate(commands)
                       if command.startswith("cmake --preset patched-grpc ")]
        self.assertLess(build, configure)
        # Neither to build with nor to run with.
        self.assertIn("deploy/install_dependencies.sh --patched-grpc",
                      commands)
        self.assertFalse([c for c in commands if "libgrpc" in c])
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        [preset] = [preset for preset in presets["configurePresets"]
                    if preset["name"] == "patched-grpc"]
        self.assertEqual(preset["cacheVariables"]["ATTEND_GRPC_PREFIX"],
                         "${sourceDir}/build/grpc")
        self.assertIn("install -D -m 644 -t /image/usr/share/doc/grpc "
                      "build/grpc/share/doc/grpc/*", commands)

    def test_environment_is_of_the_server(self):
        self.check_environment(dict(
            word.split("=", 1) for name, rest in dockerfile() if name == "ENV"
            for word in rest.split()))

    def test_has_a_health_check(self):
        self.assertEqual([name for name, _ in dockerfile()].count(
            "HEALTHCHECK"), 1)


class ComposeTest(DeployTest):
    def setUp(self):
        [self.compose] = read_yaml("deploy/compose.yaml")
        self.services = self.compose["services"]

    def test_environment_is_of_the_server(self):
        self.check_environment(self.services["attend"]["environment"])

    def test_stop_waits_for_the_drain(self):
        attend = self.services["attend"]
        self.assertGreaterEqual(
            attend_server.seconds(attend["stop_grace_period"]),
            drain_seconds(attend["environment"]))

    def test_nothing_has_rights_that_it_does_not_need(self):
        for name, service in self.services.items():
            self.assertTrue(service["read_only"], name)
            self.assertEqual(service["cap_drop"], ["ALL"], name)
            self.assertIn("no-new-privileges:true", service["security_opt"])
            for port in service["ports"]:
                self.assertTrue(port.startswith("127.0.0.1:"), port)

    def test_mounted_files_exist(self):
        for service in self.services.values():
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                if source.startswith("."):
                    self.assertTrue((ROOT / "deploy" / source).exists(), source)
                else:
                    self.assertIn(source, self.compose["volumes"])

    def test_prometheus_and_grafana_find_what_they_read(self):
        [prometheus] = read_yaml("deploy/prometheus/prometheus.yml")
        [target] = prometheus["scrape_configs"][0]["static_configs"][0][
            "targets"]
        self.assertEqual(target, "attend:8080")
        [sources] = read_yaml(
            "deploy/grafana/provisioning/datasources/prometheus.yaml")
        self.assertEqual(sources["datasources"][0]["url"],
                         "http://prometheus:9090")
        [providers] = read_yaml(
            "deploy/grafana/provisioning/dashboards/attend.yaml")
        folder = providers["providers"][0]["options"]["path"]
        self.assertIn(f"./grafana/dashboard.json:{folder}/dashboard.json:ro",
                      self.services["grafana"]["volumes"])


class KServeTest(DeployTest):
    def setUp(self):
        [runtime] = read_yaml("deploy/kserve/serving_runtime.yaml")
        [service] = read_yaml("deploy/kserve/inference_service.yaml")
        self.runtime, self.predictor = runtime, service["spec"]["predictor"]
        [self.container] = runtime["spec"]["containers"]
        self.environment = {variable["name"]: variable["value"]
                            for variable in self.container["env"]}
        self.arguments = [argument.replace("{{.Name}}", "a")
                          for argument in self.container["args"]]

    def test_environment_and_arguments_are_of_the_server(self):
        self.check_environment(self.environment)
        subprocess.run([attend_server.BINARY, *self.arguments, "--version"],
                       check=True, capture_output=True, timeout=60)

    def test_ports_are_those_of_the_arguments(self):
        [port] = self.container["ports"]
        self.assertIn(f"--port={port['containerPort']}", self.arguments)
        for name in ("startupProbe", "readinessProbe"):
            self.assertEqual(self.container[name]["grpc"]["port"],
                             port["containerPort"])
        http = self.container["livenessProbe"]["httpGet"]["port"]
        self.assertIn(f"--http-port={http}", self.arguments)
        annotations = self.runtime["spec"]["annotations"]
        self.assertEqual(annotations["prometheus.kserve.io/port"], str(http))

    def test_the_service_uses_the_runtime(self):
        model = self.predictor["model"]
        self.assertEqual(model["runtime"], self.runtime["metadata"]["name"])
        self.assertIn(model["protocolVersion"],
                      self.runtime["spec"]["protocolVersions"])
        self.assertIn(model["modelFormat"]["name"],
                      [one["name"] for one in
                       self.runtime["spec"]["supportedModelFormats"]])
        self.assertGreaterEqual(
            self.predictor["terminationGracePeriodSeconds"],
            drain_seconds(self.environment))


if __name__ == "__main__":
    unittest.main()
