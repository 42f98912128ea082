#!/usr/bin/env python3
"""Renders the chart: deploy/kubernetes/attend.yaml with its defaults,
tests/deploy/helm/rendered.yaml with every part, keda.yaml in the same folder
with what scales by KEDA instead, and the deployments with every option of the
server, lowest_rendered.yaml and highest_rendered.yaml.

    deploy/helm/render.py [HELM]

Run it after each change of the chart. The files say of which chart they are, so
that tests notice without helm.
"""

import hashlib
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy/helm/attend"
TESTS = ROOT / "tests/deploy/helm"
VALUES, *EXTREMES = (TESTS / f"{name}.yaml"
                     for name in ("values", "lowest", "highest"))
RENDERED = {
    ROOT / "deploy/kubernetes/attend.yaml": [],
    TESTS / "rendered.yaml": ["-f", str(VALUES)],
    TESTS / "keda.yaml":
        ["-f", str(VALUES), "--set", "autoscaling.by=keda",
         "--show-only", "templates/autoscaling.yaml"],
    **{TESTS / f"{path.stem}_rendered.yaml":
       ["-f", str(path), "--show-only", "templates/deployment.yaml"]
       for path in EXTREMES},
}


def chart_hash():
    """Of the files that make the rendered ones; the schema only checks them."""
    found = hashlib.sha256()
    for path in sorted(CHART.rglob("*")) + [VALUES, *EXTREMES]:
        if path.is_file() and path.name != "values.schema.json":
            found.update(f"{path.relative_to(ROOT)}\n".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def render(helm, more):
    text = subprocess.run(
        [helm, "template", "attend", str(CHART), "--kube-version", "1.33.0",
         "--namespace", "translation", *more],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return (f"# Made by deploy/helm/render.py; do not edit. Chart "
            f"{chart_hash()}\n{text}")


def main():
    helm = sys.argv[1] if len(sys.argv) > 1 else "helm"
    for path, more in RENDERED.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(render(helm, more))


if __name__ == "__main__":
    main()
