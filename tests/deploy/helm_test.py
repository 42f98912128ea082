"""The chart, by what it makes: with its defaults (deploy/kubernetes/attend.yaml),
with every part (helm/rendered.yaml), and with the least and the most of every
option (helm/lowest_rendered.yaml, helm/highest_rendered.yaml), with which the
server is started. Where there is helm, it is run, too.
"""

import contextlib
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import attend_server
from deploy_files import ROOT, DeployTest, dockerfile, drain_seconds, read_yaml

sys.path.insert(0, str(ROOT / "deploy/helm"))
import render  # noqa: E402

PLAIN, FULL = "deploy/kubernetes/attend.yaml", "tests/deploy/helm/rendered.yaml"
KEDA, PICKER = "tests/deploy/helm/keda.yaml", "deploy/helm/picker.yaml"
LOWEST, HIGHEST = ("tests/deploy/helm/lowest", "tests/deploy/helm/highest")
# Options that the chart makes of other values, or that contradict them.
OF_THE_CHART = {"model", "model-name", "hub", "hub-cache", "port", "http-port",
                "http-tls", "tls-cert", "tls-key", "tenants"}
SCHEMA = json.loads((render.CHART / "values.schema.json").read_text())
OPTIONS = SCHEMA["properties"]["options"]["properties"]


def objects(path):
    found = {}
    for item in read_yaml(path):
        key = (item["kind"], item["metadata"]["name"])
        assert key not in found, key
        found[key] = item
    return found


def fits(value, schema):
    """Whether a schema of an option takes the value. Knows the keywords that
    they have, and no others."""
    if "$ref" in schema:
        return fits(value, SCHEMA["definitions"][schema["$ref"].split("/")[-1]])
    types = {"string": str, "integer": int, "number": (int, float),
             "boolean": bool, "array": list}
    asked = {"type": lambda kinds: any(
                 isinstance(value, types[kind]) and
                 (kind == "boolean" or not isinstance(value, bool))
                 for kind in ([kinds] if isinstance(kinds, str) else kinds)),
             "enum": lambda choices: any(
                 value == choice and type(value) is type(choice)
                 for choice in choices),
             "pattern": lambda pattern: not isinstance(value, str) or
                 re.search(pattern, value),
             "minLength": lambda least: len(value) >= least,
             "minimum": lambda least: isinstance(value, str) or value >= least,
             "maximum": lambda most: isinstance(value, str) or value <= most,
             "items": lambda items: not isinstance(value, list) or
                 all(fits(item, items) for item in value)}
    return all(asked[name](argument) for name, argument in schema.items())


class OptionsTest(DeployTest):
    """The schema of `options` and the options of the server."""

    def test_they_are_the_same(self):
        # A name that is missing here is refused by the chart; one that the
        # server does not know would be an environment variable that nobody reads.
        names = {flag[2:] for flag in attend_server.flags()
                 if f"ATTEND_{flag[2:].upper().replace('-', '_')}"
                 in attend_server.variables()}
        self.assertEqual(set(OPTIONS), names - OF_THE_CHART)
        self.assertFalse(
            SCHEMA["properties"]["options"]["additionalProperties"])

    def test_each_takes_its_default(self):
        text = attend_server.help_text()
        for name, schema in OPTIONS.items():
            [default] = re.findall(rf"--{name}  \(.*default (.*)\)$", text,
                                   re.MULTILINE)
            if default != "empty" and not name.startswith("drain-"):
                self.assertTrue(fits(default, schema), (name, default))
            if name.endswith("-bytes"):
                self.assertEqual(schema, {"$ref": "#/definitions/size"})

    def test_the_server_takes_each_choice(self):
        for name, schema in OPTIONS.items():
            for choice in schema.get("enum", []):
                self.check_environment({
                    "ATTEND_" + name.upper().replace("-", "_"): choice})

    def test_extremes_have_each_of_them(self):
        for path in LOWEST, HIGHEST:
            [values] = read_yaml(path + ".yaml")
            missing = set(OPTIONS) - set(values["options"])
            # It has no lowest choice, and needs a file of CAs.
            self.assertEqual(missing, {"tls-client-auth"} if path == LOWEST
                             else set())
            for name, value in values["options"].items():
                self.assertTrue(fits(value, OPTIONS[name]), (name, value))

    def test_what_is_no_value_is_refused(self):
        for name, value in (("max-running", "1e3"), ("max-running", 1.5),
                            ("max-running", -1), ("max-running", True),
                            ("kv-cache-bytes", "32M"), ("kv-cache-bytes", -1),
                            ("aging", 5), ("aging", "5"), ("page", "yes"),
                            ("page", 1), ("dtype", "int3"), ("alias", [1]),
                            ("alias", ["a=b,c=d"]), ("access-log-sample", 2),
                            ("health-key-sha256", "secret"),
                            ("drain-delay", "1h")):
            self.assertFalse(fits(value, OPTIONS[name]), (name, value))


class ExtremesTest(DeployTest):
    """The server, started as the rendered deployments say, asked by the probes
    that they have."""

    @contextlib.contextmanager
    def started(self, path):
        """Gives the container, its environment, and the process."""
        [deployment] = read_yaml(path + "_rendered.yaml")
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        with tempfile.TemporaryDirectory() as folder:
            self.make_files(pathlib.Path(folder))
            environment = {
                one["name"]: one.get("value", "a-key")
                .replace("/etc/attend/tls", folder).replace("/test", folder)
                for one in container["env"]}
            for name in "ATTEND_PORT", "ATTEND_HTTP_PORT":
                with socket.create_server(("127.0.0.1", 0)) as free:
                    environment[name] = str(free.getsockname()[1])
            if not socket.has_dualstack_ipv6():
                environment |= {name: "127.0.0.1" for name in
                                ("ATTEND_HOST", "ATTEND_HTTP_HOST")}
            process = subprocess.Popen(
                [attend_server.BINARY, *container["args"]], cwd=ROOT,
                env=environment, stderr=subprocess.PIPE, text=True)
            try:
                yield container, environment, process
            finally:
                process.kill()
                process.communicate()

    def make_files(self, folder):
        attend_server.make_certificate(folder)
        for link, file in (("tls.crt", "crt"), ("tls.key", "key"),
                           ("ca.pem", "crt")):
            (folder / link).symlink_to(folder / file)
        (folder / "empty.toml").write_text("")
        (folder / "shortlist").write_text("Hund dog 0.9\n")
        (folder / "adapter").mkdir()
        (folder / "adapter/adapter_config.json").write_text(
            '{"peft_type": "LORA"}')
        (folder / "adapter/adapter_model.safetensors").write_bytes(
            bytes([2] + [0] * 7) + b"{}")
        (folder / "models").mkdir()
        (folder / "models/second").symlink_to(ROOT / "models/en-de")

    def asked(self, container, probe, environment):
        """Whether the probe of the container finds the server well."""
        if "exec" in container[probe]:
            program, *arguments = container[probe]["exec"]["command"]
            self.assertEqual(program, "/usr/bin/attend-server")
            return subprocess.run([attend_server.BINARY, *arguments],
                                  env=environment, capture_output=True,
                                  timeout=60).returncode == 0
        path = container[probe].get("httpGet", {}).get("path", "/readyz")
        try:
            with urllib.request.urlopen(
                    f"http://127.0.0.1:{environment['ATTEND_HTTP_PORT']}{path}",
                    timeout=10) as page:
                return page.status == 200
        except OSError:
            return False

    def check(self, path):
        with self.started(path) as (container, environment, process):
            for probe in "startupProbe", "readinessProbe", "livenessProbe":
                end = time.monotonic() + 120
                while not self.asked(container, probe, environment):
                    if process.poll() is not None:
                        self.fail(process.stderr.read())
                    self.assertLess(time.monotonic(), end, probe)
                    time.sleep(0.05)
            if "exec" in container["livenessProbe"]:
                wrong = {**environment, "ATTEND_TOKEN": "another"}
                self.assertFalse(self.asked(container, "livenessProbe", wrong))

    def test_the_least_of_each_option(self):
        self.check(LOWEST)

    def test_the_most_of_each_option(self):
        self.check(HIGHEST)

    def test_no_number_has_an_exponent(self):
        for path in render.RENDERED:
            for line in path.read_text().splitlines()[1:]:
                self.assertNotRegex(line, r"[ \"]\d+(\.\d+)?e\+\d")


class RenderedTest(DeployTest):

    def test_it_is_of_this_chart(self):
        for path in render.RENDERED:
            self.assertIn(render.chart_hash(), path.read_text().splitlines()[0],
                          f"{path}: run deploy/helm/render.py")

    @unittest.skipUnless(shutil.which("helm"), "no helm")
    def test_helm_makes_it(self):
        for path, more in render.RENDERED.items():
            self.assertEqual(render.render("helm", more), path.read_text())
        for wrong in ("models[0].name=A", "models[0].claim=a,models[0].image=b",
                      "options.model=a", "options.http-tls=true",
                      "options.max-runing=3", "options.max-running=x",
                      "options.page=maybe", "cpus=1.5", "metrics.scrape=both",
                      "metrics=null", "replicas=3000000000", "unknown=1"):
            self.assertIn("values don't meet the specifications",
                          self.refused(wrong))
        key = "a" * 64
        self.assertIn("needs health.secretName",
                      self.refused(f"options.health-key-sha256={key}"))
        self.assertIn("needs metrics.scrape",
                      self.refused(f"options.metrics-key-sha256={key}"))
        self.assertIn("needs metrics.secretName", self.refused(
            f"options.metrics-key-sha256={key},metrics.scrape=serviceMonitor"))

    def refused(self, wrong):
        """The error of helm."""
        made = subprocess.run(
            ["helm", "template", str(render.CHART), "--kube-version", "1.33.0",
             "--set", wrong], capture_output=True, text=True)
        self.assertNotEqual(made.returncode, 0)
        return made.stderr

    def test_kinds(self):
        plain = [("Deployment", "attend"), ("PodDisruptionBudget", "attend"),
                 ("Service", "attend"), ("Service", "attend-headless")]
        self.assertEqual(sorted(objects(PLAIN)), plain)
        self.assertEqual(sorted(objects(FULL)), sorted([
            *plain, *((kind, "attend") for kind in (
                "Certificate", "HorizontalPodAutoscaler", "InferencePool",
                "NetworkPolicy", "ServiceMonitor"))]))

    def test_each_value_has_a_schema(self):
        [values] = read_yaml("deploy/helm/attend/values.yaml")
        schema = SCHEMA
        self.assertEqual(set(values) | {"global"}, set(schema["properties"]))
        for name, value in values.items():
            known = schema["properties"][name]
            if known.get("additionalProperties") is False:
                if name == "options":
                    continue
                self.assertEqual(set(value), set(known["properties"]), name)
                self.assertEqual(set(value), set(known["required"]), name)
        self.assertEqual(set(values), set(schema["required"]))


class Cases:
    """Of one rendered file."""

    def setUp(self):
        self.objects = objects(self.path)
        self.deployment = self.objects["Deployment", "attend"]["spec"]
        self.pod = self.deployment["template"]["spec"]
        [self.container] = self.pod["containers"]
        self.environment = {variable["name"]: variable["value"]
                            for variable in self.container["env"]
                            if "value" in variable}

    def metric_names(self):
        return set(re.findall(r"attend_\w+", (ROOT / "docs/operations.md")
                              .read_text()))

    def test_environment_and_arguments_are_of_the_server(self):
        # The files that variables name are not there: without them.
        self.check_environment({
            name: value for name, value in self.environment.items()
            if not value.startswith("/etc/attend/")})
        self.assertLessEqual(set(self.environment), attend_server.variables())
        subprocess.run(
            [attend_server.BINARY, *self.container["args"], "--version"],
            check=True, capture_output=True, timeout=60)

    def test_selectors_find_the_pods(self):
        labels = self.deployment["template"]["metadata"]["labels"].items()
        seen = 0
        for (kind, name), item in self.objects.items():
            spec = item["spec"]
            selector = spec.get("selector", spec.get("podSelector"))
            if selector is None or kind == "ServiceMonitor":
                continue
            seen += 1
            selector = selector.get("matchLabels", selector)
            self.assertTrue(selector)
            self.assertLessEqual(selector.items(), labels, (kind, name))
        self.assertGreaterEqual(seen, 4)

    def test_ports_are_those_of_the_server(self):
        ports = {port["name"]: port["containerPort"]
                 for port in self.container["ports"]}
        text = attend_server.help_text()
        self.assertIn(f"ATTEND_PORT, default {ports['grpc']})", text)
        self.assertIn(f"ATTEND_HTTP_PORT, default {ports['http']})", text)
        for kind, name in self.objects:
            if kind == "Service":
                for port in self.objects[kind, name]["spec"]["ports"]:
                    self.assertIn(port["targetPort"], ports)

    def test_pods_are_scraped_once(self):
        annotations = self.deployment["template"]["metadata"].get(
            "annotations", {})
        monitors = [item for (kind, _), item in self.objects.items()
                    if kind == "ServiceMonitor"]
        if not monitors:
            self.assertEqual(annotations["prometheus.io/port"], "8080")
            return
        self.assertFalse(annotations)
        [monitor] = monitors
        chosen = monitor["spec"]["selector"]["matchLabels"].items()
        services = [item for (kind, _), item in self.objects.items()
                    if kind == "Service"
                    and chosen <= item["metadata"]["labels"].items()]
        [service] = services
        # By this name the alert rules know it from its first moment.
        self.assertEqual(
            service["metadata"]["labels"][monitor["spec"]["jobLabel"]],
            "attend")
        [endpoint] = monitor["spec"]["endpoints"]
        self.assertIn(endpoint["port"],
                      [port["name"] for port in service["spec"]["ports"]])

    def test_the_pod_may_end_in_good_order(self):
        self.assertGreaterEqual(self.pod["terminationGracePeriodSeconds"],
                                drain_seconds(self.environment))
        # Balancers learn that it is not ready within the delay.
        probe = self.container["readinessProbe"]
        self.assertGreaterEqual(
            attend_server.seconds(self.environment["ATTEND_DRAIN_DELAY"]),
            probe["periodSeconds"] * probe["failureThreshold"])

    def test_cpus_are_whole_and_guaranteed(self):
        resources = self.container["resources"]
        self.assertEqual(resources["requests"], resources["limits"])
        self.assertRegex(resources["requests"]["cpu"], r"^\d+$")

    def test_has_no_rights_that_it_does_not_need(self):
        pod, container = (self.pod["securityContext"],
                          self.container["securityContext"])
        user = [rest for name, rest in dockerfile() if name == "USER"][-1]
        self.assertTrue(pod["runAsNonRoot"])
        self.assertEqual(f"{pod['runAsUser']}:{pod['runAsGroup']}", user)
        self.assertEqual(pod["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertEqual(container, {"readOnlyRootFilesystem": True,
                                     "allowPrivilegeEscalation": False,
                                     "capabilities": {"drop": ["ALL"]}})
        self.assertFalse(self.pod["automountServiceAccountToken"])
        # Nor variables such as ATTEND_PORT=tcp://10.0.0.1:50051.
        self.assertFalse(self.pod["enableServiceLinks"])


class PlainTest(Cases, DeployTest):
    path = PLAIN

    def test_readiness_asks_for_the_bundled_model(self):
        [folder] = [rest for name, rest in dockerfile() if name == "WORKDIR"
                    and rest.startswith("/usr")]
        collect = (ROOT / "deploy/image/collect.py").read_text()
        self.assertIn(f'DATA = "{folder[1:]}"', collect)
        [model] = re.findall(r'^MODEL = "(models/\S+)"', collect, re.M)
        name = model.split("/")[-1]
        self.assertEqual(self.container["args"], [f"--model={name}={model}"])
        self.assertTrue((ROOT / model / "config.json").exists())
        self.assertEqual(self.container["readinessProbe"]["grpc"],
                         {"port": 50051, "service": name})


class FullTest(Cases, DeployTest):
    path = FULL

    def test_what_is_mounted_is_there(self):
        mounts = {mount["name"]: mount["mountPath"]
                  for mount in self.container["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in self.pod["volumes"]}
        self.assertEqual(set(mounts), set(volumes))
        cache = self.environment.pop("ATTEND_HUB_CACHE")
        self.assertEqual(cache, mounts["cache"])
        for name, value in self.environment.items():
            if value.startswith("/"):
                self.assertIn(value.rsplit("/", 1)[0], mounts.values(), name)
        for argument in self.container["args"]:
            model, path = re.fullmatch(r"--\w+=([\w-]+)=(.*)",
                                       argument).groups()
            if path.startswith("/"):
                self.assertTrue(path.startswith(mounts[f"model-{model}"]))
        certificate = self.objects["Certificate", "attend"]["spec"]
        self.assertEqual(volumes["tls"]["secret"]["secretName"],
                         certificate["secretName"])

    def test_probes_do_not_speak_plain_text_to_tls(self):
        for probe in ("startupProbe", "readinessProbe"):
            self.assertEqual(self.container[probe]["httpGet"],
                             {"port": "http", "path": "/readyz"})

    def test_autoscaling_reads_metrics_of_the_server(self):
        self.assertNotIn("replicas", self.deployment)
        spec = self.objects["HorizontalPodAutoscaler", "attend"]["spec"]
        names = [one["pods"]["metric"]["name"] for one in spec["metrics"]]
        self.assertEqual(names,
                         ["attend_queued_requests", "attend_kv_use_ratio"])
        self.assertLessEqual(set(names), self.metric_names())
        [scaled] = read_yaml(KEDA)
        self.assertEqual(scaled["kind"], "ScaledObject")
        queries = [one["metadata"]["query"] for one in scaled["spec"]["triggers"]]
        self.assertEqual([re.findall(r"attend_\w+", one) for one in queries],
                         [[name] for name in names])

    def test_the_picker_reads_metrics_of_the_server(self):
        [values] = read_yaml(PICKER)
        router = values["router"]["epp"]
        text = router["pluginsCustomConfig"][router["pluginsConfigFile"]]
        names = re.findall(r"Spec: (\w+)$", text, re.MULTILINE)
        self.assertEqual(len(names), 3)
        self.assertLessEqual(set(names), self.metric_names())

    def test_only_grpc_and_http_are_open(self):
        spec = self.objects["NetworkPolicy", "attend"]["spec"]
        self.assertEqual(spec["policyTypes"], ["Ingress", "Egress"])
        self.assertEqual(spec["egress"], [])
        self.assertEqual([rule["ports"] for rule in spec["ingress"]],
                         [[{"port": "grpc"}], [{"port": "http"}]])
        self.assertTrue(all(rule["from"] for rule in spec["ingress"]))


if __name__ == "__main__":
    unittest.main()
