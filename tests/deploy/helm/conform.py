#!/usr/bin/env python3
"""Checks what the chart makes, and deploy/kserve, against the schemas of their
kinds, by hand.

    conform.py --crds FOLDER [--helm helm] [--kubeconform kubeconform]

Both are Go programs (`go install helm.sh/helm/v3/cmd/helm@v3.16.4`, `go install
github.com/yannh/kubeconform/cmd/kubeconform@latest`). PyPI's
`kubernetes-validate` has Kubernetes' schemas. What other projects define has its
schema in their CustomResourceDefinitions. FOLDER has these files of theirs, here
with the versions that were tried (`go mod download` gets the first three, too):

    github.com/cert-manager/cert-manager v1.21.2
        deploy/crds/cert-manager.io_certificates.yaml
    github.com/prometheus-operator/prometheus-operator v0.85.0
        example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml
    github.com/kedacore/keda/v2 v2.21.0
        config/crd/bases/keda.sh_scaledobjects.yaml
    github.com/kubernetes-sigs/gateway-api-inference-extension v1.6.0
        config/crd/bases/inference.networking.k8s.io_inferencepools.yaml
    github.com/kserve/kserve v0.20.0
        config/crd/full/serving.kserve.io_clusterservingruntimes.yaml
        config/crd/full/serving.kserve.io_inferenceservices.yaml

Rules that are expressions (`x-kubernetes-validations`) are not evaluated.
"""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
VERSIONS = ("1.27.0", "1.30.0", "1.33.0", "1.35.0", "1.37.0")
KINDS = ("deployment-apps-v1", "service-v1", "poddisruptionbudget-policy-v1",
         "networkpolicy-networking-v1", "horizontalpodautoscaler-autoscaling-v2")
KSERVE = sorted((ROOT / "deploy/kserve").glob("*.yaml"))
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


def strict(node):
    """A definition's schema in which no field is unknown but where one may be."""
    if isinstance(node, list):
        return [strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: strict(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and not node.get(
            "x-kubernetes-preserve-unknown-fields"):
        node.setdefault("additionalProperties", False)
    return node


def write_schema(scratch, name, schema):
    (pathlib.Path(scratch) / f"{name}.json").write_text(json.dumps(schema))


def write_kubernetes_schemas(scratch, version):
    package = importlib.util.find_spec("kubernetes_validate")
    folder = (pathlib.Path(package.origin).parent / "kubernetes-json-schema" /
              f"v{version}-local-strict")
    definitions = json.loads(
        (folder / "_definitions.json").read_text())["$defs"]
    for kind in KINDS:
        schema = json.loads((folder / f"{kind}.json").read_text())
        write_schema(scratch, kind, whole(schema, definitions))


def write_custom_schemas(scratch, folder):
    """Those of the definitions in a folder, by the names kubeconform asks for."""
    for path in folder.glob("*.yaml"):
        definition = yaml.load(path.read_text(), yaml.CSafeLoader)["spec"]
        kind = definition["names"]["kind"].lower()
        group = definition["group"].split(".")[0]
        for version in definition["versions"]:
            schema = strict(version["schema"]["openAPIV3Schema"])
            # Of these a definition says only that they are there.
            schema["properties"]["metadata"] = {"type": "object"}
            write_schema(scratch, f"{kind}-{group}-{version['name']}", schema)


def check(options, scratch, *files, **more):
    """A kind without a schema is an error."""
    subprocess.run(
        [options.kubeconform, "-strict", "-summary", "-schema-location",
         scratch + "/{{.ResourceKind}}{{.KindSuffix}}.json", *files],
        check=True, **more)


def check_chart(options, scratch, version):
    chart = str(ROOT / "deploy/helm/attend")
    for case in CASES:
        if case and version < "1.31":
            case = [*case, *NO_IMAGES]
        subprocess.run([options.helm, "lint", "--quiet", "--strict", chart,
                        "--kube-version", version, *case], check=True)
        made = subprocess.run(
            [options.helm, "template", "attend", chart, "--kube-version",
             version, *case], check=True, stdout=subprocess.PIPE).stdout
        check(options, scratch, input=made)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crds", type=pathlib.Path, required=True)
    parser.add_argument("--helm", default="helm")
    parser.add_argument("--kubeconform", default="kubeconform")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        write_custom_schemas(scratch, options.crds)
        check(options, scratch, *KSERVE)
        for version in VERSIONS:
            write_kubernetes_schemas(scratch, version)
            check_chart(options, scratch, version)
            print(f"Kubernetes {version}: good", flush=True)


if __name__ == "__main__":
    main()
