#!/usr/bin/env python3
"""Draws tests/bench/trend.jsonl: docs/trend.md, and a picture per class of CPUs.

    docs/make_trend.py            writes them
    docs/make_trend.py --check    fails if a file is not what would be written
"""

import argparse
import json
import pathlib
import sys

import make_charts
from make_charts import MARGIN, WIDTH, text

DOCS = make_charts.DOCS
LINES = DOCS.parent / "tests/bench/trend.jsonl"
# Pixels.
LABELS, VALUES = 200, 90  # to the left and to the right of a curve
ROW, CURVE, TOP = 52, 36, 50
STYLE = make_charts.STYLE + """
  .curve { fill: none; stroke: #1f6feb; stroke-width: 2 }
  .point { fill: #1f6feb }
"""
PAGE = """# Trend

The speed of Attend as a multiple of a peer's, at some commits, in int8, on two cores; a picture for each class of CPUs. Each point is a run of
[`tests/bench/trend.py`](../tests/bench/trend.py), which compares within one run on one machine, so that machines may differ between points. The
dashed line is the peer: CTranslate2 for OPUS-MT and SmolLM2, and for MiniLM the fastest of ONNX Runtime and OpenVINO.
[Benchmarks](benchmarks.md) says what the workloads are.

"""


def classes(lines):
    """Class -> its lines, oldest first."""
    found = {}
    for line in lines:
        found.setdefault(line["class"], []).append(line)
    return found


def file_of(cpu_class):
    return f"trend_{cpu_class.lower().replace('-', '').replace(' ', '_')}.svg"


def render(cpu_class, lines):
    """A row for each workload of the last line: its curve, and the last value."""
    width = WIDTH - LABELS - VALUES
    title = (f"Times as fast as the peer, {cpu_class}, {lines[0]['commit']} "
             f"to {lines[-1]['commit']}")
    parts = [text(MARGIN, 26, title, "title")]
    for row, (workload, last) in enumerate(lines[-1]["times_faster"].items()):
        values = [line["times_faster"].get(workload) for line in lines]
        top = TOP + row * ROW
        scale = CURVE / max(1, *(value for value in values if value))
        step = width / max(1, len(values) - 1)
        first = LABELS + width - step * (len(values) - 1)  # the last is right
        points = [(first + i * step, top + CURVE - value * scale)
                  for i, value in enumerate(values) if value]
        level = top + CURVE - scale
        parts += [
            text(LABELS - 8, top + CURVE / 2 + 4, workload, "", "end"),
            f'<line x1="{LABELS}" y1="{level:.1f}" x2="{LABELS + width}" '
            f'y2="{level:.1f}" class="line"/>',
            '<polyline class="curve" points="'
            + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>',
            *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="point"/>'
              for x, y in points),
            text(LABELS + width + 10, points[-1][1] + 4, f"{last:.2f} ×",
                 "value")]
    height = TOP + len(lines[-1]["times_faster"]) * ROW
    return make_charts.page(title, height, parts, STYLE)


def section(cpu_class, lines):
    last = lines[-1]
    return (f"## {cpu_class}\n\n"
            f"![Times as fast as the peer, {cpu_class}]"
            f"({file_of(cpu_class)})\n\n"
            f"Last: {last['date']}, commit {last['commit']}, {last['cpu']}.\n")


def files(lines):
    """Name -> content."""
    found = classes(lines)
    page = PAGE + "\n".join(section(*item) for item in found.items())
    return {"trend.md": page} | {file_of(cpu_class): render(cpu_class, points)
                                 for cpu_class, points in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    lines = [json.loads(line) for line in
             LINES.read_text(encoding="utf-8").splitlines()]
    stale = []
    for name, content in files(lines).items():
        path = DOCS / name
        if not check:
            path.write_text(content, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            stale.append(name)
    if stale:
        sys.exit(f"not what {LINES.name} says: {', '.join(stale)}; "
                 "run docs/make_trend.py")


if __name__ == "__main__":
    main()
