"""The chart, by what it makes: with its defaults (deploy/kubernetes/attend.yaml)
and with every part (helm/rendered.yaml). Where there is helm, it is run, too.
"""

import json
import re
import shutil
import subprocess
import sys
import unittest

import attend_server
from deploy_files import ROOT, DeployTest, dockerfile, drain_seconds, read_yaml

sys.path.insert(0, str(ROOT / "deploy/helm"))
import render  # noqa: E402

PLAIN, FULL = "deploy/kubernetes/attend.yaml", "tests/deploy/helm/rendered.yaml"
KEDA, PICKER = "tests/deploy/helm/keda.yaml", "deploy/helm/picker.yaml"


def objects(path):
    found = {}
    for item in read_yaml(path):
        key = (item["kind"], item["metadata"]["name"])
        assert key not in found, key
        found[key] = item
    return found


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
                      "options.model=a", "options.http-tls=true", "cpus=1.5", "metrics.scrape=both",
                      "unknown=1"):
            made = subprocess.run(
                ["helm", "template", str(render.CHART), "--kube-version",
                 "1.33.0", "--set", wrong], capture_output=True, text=True)
            self.assertIn("values don't meet the specifications", made.stderr)

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
        schema = json.loads((render.CHART / "values.schema.json").read_text())
        self.assertEqual(set(values) | {"global"}, set(schema["properties"]))
        for name, value in values.items():
            known = schema["properties"][name]
            if known.get("additionalProperties") is False:
                self.assertEqual(set(value), set(known["properties"]), name)


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
