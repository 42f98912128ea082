"""The Dockerfile, the compose file and the files for KServe."""

import fnmatch
import json
import re
import subprocess
import unittest
import urllib.parse

import attend_server
from deploy_files import ROOT, DeployTest, dockerfile, drain_seconds, read_yaml


def run_commands():
    """The commands of all steps, without what is mounted for them."""
    steps = [re.sub(r"--mount=\S+", "", rest) for name, rest in dockerfile()
             if name == "RUN"]
    return [" ".join(command.split()) for command in
            " && ".join(steps).split(" && ")]


def health_check():
    [rest] = [rest for name, rest in dockerfile() if name == "HEALTHCHECK"]
    return json.loads(rest[rest.index("["):])


def run_server(arguments, environment):
    return subprocess.run([attend_server.BINARY, *arguments], env=environment,
                          capture_output=True, text=True, timeout=60)


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

    def test_a_certificate_of_a_proxy_is_a_secret(self):
        [first, *others] = [rest for name, rest in dockerfile()
                            if name == "RUN" and "type=secret" in rest]
        # Where the package ca-certificates looks when the step installs it.
        self.assertRegex(first, r"^--mount=type=secret,id=ca,target=/usr/local/"
                         r"share/ca-certificates/\w+\.crt\s+\S*"
                         r"deploy/install_dependencies\.sh")
        self.assertEqual(others, [])

    def test_runs_without_rights_by_default(self):
        users = [rest for name, rest in dockerfile() if name == "USER"]
        # A number: Kubernetes cannot tell that a name is not root.
        self.assertRegex(users[-1], r"^[1-9]\d*:[1-9]\d*$")

    def test_all_that_is_built_has_one_base(self):
        *stages, (image, *named) = [rest.split(" AS ") for name, rest in
                                    dockerfile() if name == "FROM"]
        known = {"debian:trixie-slim"}
        for base, name in stages:
            self.assertIn(base, known)
            known.add(name)
        self.assertEqual((image, named), ("scratch", []))

    def test_the_image_is_what_was_collected(self):
        instructions = dockerfile()
        last = max(i for i, (name, _) in enumerate(instructions)
                   if name == "FROM")
        self.assertNotIn("RUN", [name for name, _ in instructions[last:]])
        self.assertEqual([rest for name, rest in instructions[last:]
                          if name == "COPY"], ["--from=build /image /"])
        self.assertIn("deploy/image/collect.py build/patched-grpc /image",
                      run_commands())

    def test_grpc_is_the_patched_one(self):
        commands = run_commands()
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

    def test_environment_is_of_the_server(self):
        self.check_environment(dict(
            word.split("=", 1) for name, rest in dockerfile() if name == "ENV"
            for word in rest.split()))

    def test_labels(self):
        [labels] = [dict(re.findall(r'org\.opencontainers\.image\.(\w+)='
                                    r'"([^"]*)"', rest))
                    for name, rest in dockerfile() if name == "LABEL"]
        self.assertEqual(labels["version"], attend_server.version())
        self.assertEqual(labels["licenses"], "Apache-2.0")
        self.assertEqual(labels["revision"], "$REVISION")
        self.assertIn("x86-64", labels["description"])
        # It runs nowhere else, and nobody else's name is in it.
        self.assertEqual(set(labels), {"title", "description", "licenses",
                                       "version", "revision"})

    def test_the_script_has_the_same_steps(self):
        script = (ROOT / "deploy/image/build.sh").read_text()
        script = script.replace('"$preset"', "patched-grpc").replace(
            '"build/$preset"', "build/patched-grpc")
        lines = [line.strip() for line in script.splitlines()]
        steps = [command.replace(" /image", ' "$scratch/image"')
                 for command in run_commands() if "chroot" not in command]
        at = -1
        for step in steps:
            [found] = [i for i, line in enumerate(lines)
                       if line.removesuffix(" >/dev/null") == step]
            self.assertLess(at, found)  # in this order
            at = found

    def test_health_check_needs_no_shell(self):
        program, *arguments = health_check()
        [entry] = [json.loads(rest) for name, rest in dockerfile()
                   if name == "ENTRYPOINT"]
        self.assertEqual(entry, [program])
        with attend_server.running() as (port, _):
            environment = {"ATTEND_HTTP_PORT": str(port)}
            healthy = run_server(arguments, environment)
        ended = run_server(arguments, environment)
        self.assertEqual((healthy.returncode, healthy.stderr), (0, ""))
        self.assertEqual(ended.returncode, 1)
        self.assertIn(f"http://localhost:{port}/readyz", ended.stderr)


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

    def mounts(self, service):
        """What a service sees of files here, by its paths; and its volumes."""
        files, volumes = {}, {}
        for volume in self.services[service].get("volumes", []):
            source, target, *mode = volume.split(":")
            if source.startswith("."):
                self.assertEqual(mode, ["ro"], volume)
                files[target] = (ROOT / "deploy" / source).resolve()
            else:
                volumes[source] = target
        return files, volumes

    def test_mounts_are_there_for_everybody(self):
        used = set()
        for service in self.services:
            files, volumes = self.mounts(service)
            used |= set(volumes)
            for root in files.values():
                self.assertTrue(root.is_relative_to(ROOT / "deploy"), root)
                for path in [root, *root.rglob("*")]:
                    # The services are not the owner.
                    self.assertTrue(path.stat().st_mode & 0o004, path)
        self.assertEqual(used, set(self.compose["volumes"]))

    def test_each_service_waits_for_one_that_says_when_it_is_ready(self):
        begun = set()
        for name, service in self.services.items():  # in an order that ends
            for other, how in service.get("depends_on", {}).items():
                self.assertIn(other, begun)
                self.assertEqual(how, {"condition": "service_healthy"})
            begun.add(name)

    def test_health_checks_ask_the_port_of_their_service(self):
        # The server's is that of the image.
        self.assertNotIn("healthcheck", self.services["attend"])
        for name in set(self.services) - {"attend"}:
            kind, program, *_, url = self.services[name]["healthcheck"]["test"]
            self.assertEqual((kind, program), ("CMD", "wget"))
            port = urllib.parse.urlparse(url).port
            self.assertIn(f"127.0.0.1:{port}:{port}",
                          self.services[name]["ports"])

    def test_ports_are_those_of_the_server(self):
        exposed = [rest.split() for name, rest in dockerfile()
                   if name == "EXPOSE"]
        self.assertEqual([self.services["attend"]["ports"]], [
            [f"127.0.0.1:{port}:{port}" for port in ports]
            for ports in exposed])
        defaults = dict(re.findall(r"ATTEND_(\w*PORT), default (\d+)",
                                   attend_server.help_text()))
        self.assertEqual(list(defaults.values()), exposed[0])

    def test_prometheus_finds_its_files_and_the_server(self):
        files, volumes = self.mounts("prometheus")
        folder = files["/etc/prometheus"]
        subprocess.run(["promtool", "check", "config",
                        folder / "prometheus.yml"], check=True,
                       capture_output=True)
        self.assertEqual(volumes, {"prometheus": "/prometheus"})
        [prometheus] = read_yaml(folder / "prometheus.yml")
        [target] = prometheus["scrape_configs"][0]["static_configs"][0][
            "targets"]
        name, port = target.split(":")
        self.assertIn(f"127.0.0.1:{port}:{port}", self.services[name]["ports"])

    def test_grafana_finds_its_files_and_prometheus(self):
        grafana = self.services["grafana"]
        files, volumes = self.mounts("grafana")
        self.assertEqual(volumes, {"grafana": "/var/lib/grafana"})
        provisioning = files["/etc/grafana/provisioning"]
        [sources] = read_yaml(provisioning / "datasources/prometheus.yaml")
        [source] = sources["datasources"]
        url = urllib.parse.urlparse(source["url"])
        self.assertIn(f"127.0.0.1:{url.port}:{url.port}",
                      self.services[url.hostname]["ports"])
        [providers] = read_yaml(provisioning / "dashboards/attend.yaml")
        folder = providers["providers"][0]["options"]["path"]
        dashboard = files[f"{folder}/dashboard.json"]
        self.assertEqual(
            grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"],
            f"{folder}/dashboard.json")
        [variable] = [each for each in json.loads(dashboard.read_text())[
            "templating"]["list"] if each["type"] == "datasource"]
        self.assertEqual(variable["query"], source["type"])


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
