"""Prometheus' configuration, the alert rules and the dashboard."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import yaml

import attend_server

PROMETHEUS = attend_server.ROOT / "deploy/prometheus"
DASHBOARD = attend_server.ROOT / "deploy/grafana/dashboard.json"
# Of Prometheus itself: it sets them for each target.
OWN_METRICS = {"up"}
OWN_LABELS = {"job", "instance", "le"}
SUFFIXES = ("_bucket", "_sum", "_count")


def promtool(*arguments):
    result = subprocess.run(["promtool", *map(str, arguments)],
                            capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


@contextlib.contextmanager
def tenants_file():
    """One tenant, which may make two calls."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"tenants": [{
            "name": "shop",
            "keys": [hashlib.sha256(b"a-key").hexdigest()],
            "calls_per_second": 0.001, "call_burst": 2}]}, file)
        file.flush()
        yield file.name


def read_exposition():
    """Of a server with TLS, tenants, traces, an alias and an access log that takes no line,
    which was asked for something, for something wrong, too often, and for too many
    connections."""
    directory = tempfile.TemporaryDirectory()
    cert, key = attend_server.make_certificate(directory.name)
    with directory, tenants_file() as tenants, attend_server.running(
            "--max-connections=4", f"--tenants={tenants}", f"--tls-cert={cert}",
            f"--tls-key={key}", "--otlp-endpoint=127.0.0.1:1",
            "--alias=en-de=en-de", "--access-log-file=/dev/full") as (
                http_port, grpc_port):
        for text in "Two dogs run.", "long " * 1000, "Too often.":
            subprocess.run([os.environ["ATTEND_CLI"], "translate", text,
                            "--stream", "--timeout", "5s",
                            "--address", f"127.0.0.1:{grpc_port}",
                            "--ca", cert],
                           env={**os.environ, "ATTEND_TOKEN": "a-key"},
                           capture_output=True, timeout=60,
                           check=text.startswith("Two"))
        with contextlib.ExitStack() as connections:
            for _ in range(5):
                last = connections.enter_context(
                    socket.create_connection(("127.0.0.1", grpc_port), 60))
            while last.recv(1 << 10):
                pass  # until the last one is closed
        url = f"http://127.0.0.1:{http_port}/metrics"
        with urllib.request.urlopen(url) as page:
            return page.read().decode()


def code_and_reason_names():
    """All that the server may export."""
    source = (attend_server.ROOT /
              "server/observability/call_metrics.cc").read_text()
    reasons = re.search(r"kReasonNames = \{([^}]*)\}", source).group(1)
    codes = """OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND
        ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION
        ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS
        UNAUTHENTICATED"""
    return set(re.findall(r'"(\w+)"', reasons)) | set(codes.split())


def load_rules():
    with open(PROMETHEUS / "rules.yml") as file:
        return [rule for group in yaml.safe_load(file)["groups"]
                for rule in group["rules"]]


def panels():
    return json.loads(DASHBOARD.read_text())["panels"]


def dashboard_expressions():
    return [target["expr"] for panel in panels()
            for target in panel.get("targets", [])]


def metrics_of(expression):
    """Every selector in the expression has braces: metric{labels}."""
    return set(re.findall(r"([a-zA-Z_:][\w:]*)\{", expression))


def labels_of(expression):
    labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", expression))
    for group in re.findall(r"\b(?:by|on)\s*\(([^)]*)\)", expression):
        labels |= {label.strip() for label in group.split(",")}
    return labels


def base_name(metric):
    for suffix in SUFFIXES:
        if metric.endswith(suffix):
            return metric[:-len(suffix)]
    return metric


class RulesTest(unittest.TestCase):
    def test_promtool_accepts_the_configuration_and_its_rules(self):
        code, output = promtool("check", "config",
                                PROMETHEUS / "prometheus.yml")
        self.assertEqual(code, 0, output)
        code, output = promtool("check", "rules", PROMETHEUS / "rules.yml")
        self.assertEqual(code, 0, output)

    def test_alerts_fire_when_they_should(self):
        code, output = promtool("test", "rules", PROMETHEUS / "rules_test.yml")
        self.assertEqual(code, 0, output)

    def test_alerts_fire_whatever_the_job_is_called(self):
        # Kubernetes' discovery names it after its own kind or a service.
        tests = (PROMETHEUS / "rules_test.yml").read_text()
        with tempfile.TemporaryDirectory() as directory:
            shutil.copy(PROMETHEUS / "rules.yml", directory)
            path = pathlib.Path(directory) / "rules_test.yml"
            path.write_text(tests.replace('job="attend"', 'job="pods"')
                            .replace("job: attend", "job: pods"))
            code, output = promtool("test", "rules", path)
        self.assertEqual(code, 0, output)

    def test_each_alert_is_tested_to_fire_and_not_to_fire(self):
        with open(PROMETHEUS / "rules_test.yml") as file:
            cases = [case for test in yaml.safe_load(file)["tests"]
                     for case in test["alert_rule_test"]]
        fires = {(case["alertname"], bool(case["exp_alerts"]))
                 for case in cases}
        for rule in load_rules():
            self.assertIn((rule["alert"], True), fires)
            self.assertIn((rule["alert"], False), fires)

    def test_flags_in_advice_exist(self):
        known = attend_server.flags() | {"--max-new-tokens"}  # of the client
        for rule in load_rules():
            for flag in re.findall(r"--[\w-]+",
                                   rule["annotations"]["description"]):
                self.assertIn(flag, known, rule["alert"])


class MetricsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        exposition = read_exposition()
        samples = re.findall(r"^(\w+)(?:\{(.*)\})? ", exposition, re.MULTILINE)
        cls.exposition = exposition
        cls.samples = {name for name, _ in samples}
        cls.labels = {label for _, labels in samples
                      for label in re.findall(r"(\w+)=\"", labels)}
        cls.families = set(re.findall(r"^# TYPE (\w+) ", exposition,
                                      re.MULTILINE))

    def check_expression(self, expression):
        self.assertTrue(metrics_of(expression), expression)
        self.assertLessEqual(metrics_of(expression),
                             self.samples | OWN_METRICS, expression)
        self.assertLessEqual(labels_of(expression), self.labels | OWN_LABELS,
                             expression)

    def test_promtool_accepts_the_exposition(self):
        result = subprocess.run(["promtool", "check", "metrics"],
                                input=self.exposition, capture_output=True,
                                text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_rules_use_what_the_server_exports(self):
        for rule in load_rules():
            self.check_expression(rule["expr"])

    def test_codes_and_reasons_in_expressions_exist(self):
        expressions = dashboard_expressions() + [r["expr"]
                                                 for r in load_rules()]
        named = {value for expression in expressions for pattern in
                 re.findall(r"(?:code|reason)\s*[!=]?[=~]+\s*\"([^\"]*)\"",
                            expression)
                 for value in pattern.split("|")}
        self.assertIn("INTERNAL", named)
        self.assertLessEqual(named, code_and_reason_names())

    def test_dashboard_uses_what_the_server_exports(self):
        for expression in dashboard_expressions():
            self.check_expression(expression)

    def test_dashboard_shows_every_metric(self):
        shown = {base_name(metric) for expression in dashboard_expressions()
                 for metric in metrics_of(expression)}
        missing = {f for f in self.families if base_name(f) not in shown}
        self.assertEqual(missing, set())


@contextlib.contextmanager
def prometheus(http_port):
    """One with deploy's configuration, which watches the server with that port
    instead of the compose file's; gives a function that asks its API."""
    configuration = (PROMETHEUS / "prometheus.yml").read_text()
    target = re.search(r'targets: \["(.*)"\]', configuration).group(1)
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(PROMETHEUS / "rules.yml", directory)
        path = pathlib.Path(directory) / "prometheus.yml"
        path.write_text(configuration.replace(target, f"127.0.0.1:{http_port}"))
        port = free_port()
        with subprocess.Popen(
                ["prometheus", f"--config.file={path}",
                 f"--storage.tsdb.path={directory}/data",
                 f"--web.listen-address=127.0.0.1:{port}"],
                stderr=subprocess.PIPE, text=True) as running:
            try:
                for line in running.stderr:
                    if "ready to receive" in line:
                        break
                else:
                    raise RuntimeError("Prometheus has ended")
                threading.Thread(target=running.stderr.read).start()
                yield lambda path, **query: ask(
                    f"http://127.0.0.1:{port}/api/v1/{path}?"
                    + urllib.parse.urlencode(query))
            finally:
                running.terminate()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def ask(url):
    """What Prometheus' API answers, also to a query with a mistake."""
    try:
        with urllib.request.urlopen(url) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


class PrometheusTest(unittest.TestCase):
    def first_target(self, answer):
        """The server, when it has been asked for its metrics."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for target in answer("targets")["data"]["activeTargets"]:
                if target["health"] != "unknown":
                    return target
            time.sleep(0.1)
        self.fail("Prometheus asks for no metrics")

    def test_sees_the_server_and_knows_the_expressions_of_the_dashboard(self):
        with attend_server.running() as (http_port, _), prometheus(
                http_port) as answer:
            target = self.first_target(answer)
            self.assertEqual((target["health"], target["lastError"]),
                             ("up", ""))
            [sample] = answer("query", query="attend_build_info")["data"][
                "result"]
            self.assertEqual(sample["metric"]["version"],
                             attend_server.version())
            for expression in dashboard_expressions():
                plain = re.sub(r"\$__\w+", "1m", expression)
                found = answer("query", query=plain)
                self.assertEqual(found["status"], "success",
                                 (expression, found))


class DashboardTest(unittest.TestCase):
    def test_promtool_accepts_its_expressions(self):
        rules = [{"record": f"panel:expression:{i}",
                  "expr": e.replace("$__rate_interval", "1m")}
                 for i, e in enumerate(dashboard_expressions())]
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "rules.yml")
            with open(path, "w") as file:
                yaml.safe_dump({"groups": [{"name": "dashboard",
                                            "rules": rules}]}, file)
            code, output = promtool("check", "rules", path)
        self.assertEqual(code, 0, output)
        self.assertIn(f"{len(rules)} rules found", output)

    def test_variables_are_declared_and_used(self):
        text = DASHBOARD.read_text()
        declared = {v["name"] for v in
                    json.loads(text)["templating"]["list"]}
        used = set(re.findall(r"\$\{?(\w+)", text)) - {"__rate_interval",
                                                       "__all"}
        self.assertEqual(declared, {"datasource", "model", "instance"})
        self.assertEqual(used, declared)

    def test_ids_are_unique_and_panels_do_not_overlap(self):
        self.assertEqual(len({p["id"] for p in panels()}), len(panels()))
        taken = set()
        for panel in panels():
            place = panel["gridPos"]
            cells = {(x, y)
                     for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells


if __name__ == "__main__":
    unittest.main()
