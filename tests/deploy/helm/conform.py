#!/usr/bin/env python3
"""Checks what the chart makes against Kubernetes' schemas, by hand.

    conform.py [--helm helm] [--kubeconform kubeconform]

Both are Go programs (`go install helm.sh/helm/v3/cmd/helm@v3.16.4`, `go install
github.com/yannh/kubeconform/cmd/kubeconform@latest`); PyPI's
`kubernetes-validate` has the schemas. What other projects define (Certificate,
ServiceMonitor, ScaledObject, InferencePool) has no schema there.
"""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
VERSIONS = ("1.27.0", "1.30.0", "1.33.0", "1.35.0", "1.37.0")
KINDS = ("deployment-apps-v1", "service-v1", "poddisruptionbudget-policy-v1",
         "networkpolicy-networking-v1", "horizontalpodautoscaler-autoscaling-v2")
OTHERS = "Certificate,ServiceMonitor,ScaledObject,InferencePool"
# Volumes of OCI images came with 1.31.
NO_IMAGES = ["--set-json", 'models=[{"name": "minilm", "claim": "models"}]']
EVERY_PART = ["-f", str(ROOT / "tests/deploy/helm/values.yaml")]
CASES = ([], EVERY_PART, [*EVERY_PART, "--set", "autoscaling.by=keda"])


def whole(node, definitions):
    """A schema without references, which kubeconform does not find."""
    if isinstance(node, list):
        return [whole(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return whole(definitions[name], definitions)
    return {key: whole(value, definitions) for key, value in node.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--helm", default="helm")
    parser.add_argument("--kubeconform", default="kubeconform")
    options = parser.parse_args()
    package = importlib.util.find_spec("kubernetes_validate")
    schemas = pathlib.Path(package.origin).parent / "kubernetes-json-schema"
    chart = str(ROOT / "deploy/helm/attend")
    with tempfile.TemporaryDirectory() as scratch:
        for version in VERSIONS:
            folder = schemas / f"v{version}-local-strict"
            definitions = json.loads(
                (folder / "_definitions.json").read_text())["$defs"]
            for kind in KINDS:
                schema = json.loads((folder / f"{kind}.json").read_text())
                (pathlib.Path(scratch) / f"{kind}.json").write_text(
                    json.dumps(whole(schema, definitions)))
            for case in CASES:
                if case and version < "1.31":
                    case = [*case, *NO_IMAGES]
                subprocess.run([options.helm, "lint", "--quiet", "--strict",
                                chart, "--kube-version", version, *case],
                               check=True)
                made = subprocess.run(
                    [options.helm, "template", "attend", chart,
                     "--kube-version", version, *case],
                    check=True, stdout=subprocess.PIPE).stdout
                subprocess.run(
                    [options.kubeconform, "-strict", "-summary", "-skip",
                     OTHERS, "-schema-location",
                     scratch + "/{{.ResourceKind}}{{.KindSuffix}}.json"],
                    input=made, check=True)
            print(f"Kubernetes {version}: good", flush=True)


if __name__ == "__main__":
    main()
