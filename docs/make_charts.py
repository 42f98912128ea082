#!/usr/bin/env python3
"""Draws the tables of docs/benchmarks.md as bars.

    docs/make_charts.py            writes docs/*.svg
    docs/make_charts.py --check    fails if a file is not what would be written

The page is the only source of the numbers: a chart names a heading of it, and
the columns and rows of the first table below that heading that has them.
"""

import argparse
import dataclasses
import html
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent
PAGE = "benchmarks.md"

# Pixels.
WIDTH = 760
LABELS = 276  # to the left of the bars
VALUES = 150  # to the right of them
BAR, GAP, MARGIN, TOP = 16, 10, 16, 66

STYLE = """
  .page { fill: #ffffff; stroke: #d0d7de }
  text { fill: #1f2328; font: 12px system-ui, 'DejaVu Sans', sans-serif }
  .title { font-size: 14px; font-weight: 600 }
  .quiet { fill: #59636e }
  .value { font-weight: 600 }
  .line { stroke: #59636e; stroke-dasharray: 3 3 }
  .bar0 { fill: #1f6feb } .bar1 { fill: #9a6700 } .bar2 { fill: #8c959f }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .line { stroke: #9198a1 }
    .bar0 { fill: #58a6ff } .bar1 { fill: #d29922 } .bar2 { fill: #6e7681 }
  }
"""


@dataclasses.dataclass
class Bar:
    value: float
    said: str  # beside it


@dataclasses.dataclass
class Chart:
    name: str
    title: str
    series: list  # names; one: no legend
    rows: list    # (label, [a Bar, or None, for each of series])
    line: float = None  # where both are equal


def tables(page):
    """Heading -> its tables, as lists of rows of cells; the first row is the
    header. An empty first cell is that of the row above."""
    found, heading = {}, ""
    for block in re.split(r"\n\s*\n", page):
        lines = block.strip().splitlines()
        if lines and lines[0].startswith("#"):
            heading = lines[0].lstrip("# ")
        elif lines and lines[0].startswith("|"):
            rows = [[cell.strip() for cell in line.strip("| ").split(" | ")]
                    if not line.startswith("| |") else
                    [""] + [cell.strip()
                            for cell in line[3:].strip("| ").split(" | ")]
                    for line in lines if not line.startswith("|---")]
            for above, row in zip(rows, rows[1:]):
                row[0] = row[0] or above[0]
                row += [""] * (len(rows[0]) - len(row))
            found.setdefault(heading, []).append(rows)
    return found


def select(found, heading, columns, index=0):
    """Cells of the named columns, for each row of the index-th table with all
    of them."""
    matching = [rows for rows in found[heading] if set(columns) <= set(rows[0])]
    rows = matching[index]
    places = [rows[0].index(column) for column in columns]
    return [[row[place] for place in places] for row in rows[1:]]


def number(cell):
    return float(cell.replace(",", ""))


def bar(cell, more=""):
    return Bar(number(cell), f"{cell} {more}".strip()) if cell else None


def continuations(found, index):
    rows = select(found, "Continuations",
                  ["workload", "numbers", "Attend tokens/s",
                   "llama.cpp tokens/s", "CTranslate2 tokens/s"], index)
    return [(f"{workload}, {numbers}", [bar(cell) for cell in cells])
            for workload, numbers, *cells in rows]


def summary(found):
    """In int8, on one machine, against the faster of the peers."""
    wanted = {("OPUS-MT", "greedy, 64 in flight"),
              ("OPUS-MT", "one request alone"), ("T5 base", "greedy"),
              ("BART base", "greedy")}
    rows = [(f"{shape}: {workload}", [bar(times, "× CTranslate2")])
            for shape, workload, numbers, times in select(
                found, "Translation",
                ["shape", "workload", "numbers", "times as fast"])
            if numbers == "int8" and (shape, workload) in wanted]
    rows += [(f"{shape.split(' (')[0]}: {sources}", [bar(times, f"× {peer}")])
             for shape, sources, peer, times in select(
                 found, "Encoders", ["shape", "sources",
                                     "best peer", "times as fast"])
             if sources != "128 tokens each"]
    for workload, attend, *peers in select(
            found, "Continuations", ["workload", "Attend tokens/s",
                                     "llama.cpp tokens/s",
                                     "CTranslate2 tokens/s"]):
        best = max(peers, key=number)
        peer = ["llama.cpp", "CTranslate2"][peers.index(best)]
        times = f"{number(attend) / number(best):.1f}"
        rows.append((f"SmolLM2-135M: {workload}", [bar(times, f"× {peer}")]))
    return rows


def charts(page):
    found = tables(page)
    times = "Times as fast as "
    return [
        Chart("summary", times + "the fastest other engine; int8, 2 cores of an "
              "AMD EPYC", [""], summary(found), line=1),
        Chart("translation", times + "CTranslate2", [""],
              [(f"{shape}: {workload}, {numbers}", [bar(value, "×")])
               for shape, workload, numbers, value in select(
                   found, "Translation",
                   ["shape", "workload", "numbers", "times as fast"])],
              line=1),
        Chart("encoders", "Encoders, tokens/s", ["Attend", "best peer"],
              [(f"{shape.split(' (')[0]}: {sources}",
                [bar(attend), bar(peer, which)])
               for shape, sources, attend, which, peer in select(
                   found, "Encoders",
                   ["shape", "sources", "Attend tokens/s",
                    "best peer", "peer tokens/s"])]),
        Chart("continuations_epyc", "SmolLM2-135M, tokens/s, EPYC",
              ["Attend", "llama.cpp", "CTranslate2"], continuations(found, 0)),
        Chart("continuations_xeon", "SmolLM2-135M, tokens/s, Xeon",
              ["Attend", "llama.cpp", "CTranslate2"], continuations(found, 1)),
        Chart("translation_served", "Seconds from when a call was due",
              ["p50", "p99"],
              [(f"{rate} calls/s", [bar(cell, "s") for cell in cells])
               for rate, *cells in select(
                   found, "Translation served",
                   ["calls/s", "p50 seconds", "p99 seconds"])]),
    ]


def text(x, y, content, css="", anchor="start"):
    return (f'<text x="{x:g}" y="{y:g}" class="{css}" text-anchor="{anchor}">'
            f"{html.escape(content)}</text>")


def page(title, height, elements, style=STYLE):
    """A picture of WIDTH x `height` with these elements on it."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
            f'height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">\n'
            f"<title>{html.escape(title)}</title>\n"
            f"<style>{style}</style>\n"
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" '
            f'rx="6" class="page"/>\n' + "\n".join(elements) + "\n</svg>\n")


def render(chart):
    scale = (WIDTH - LABELS - VALUES) / max(
        bar.value for _, bars in chart.rows for bar in bars if bar)
    lines = [text(MARGIN, 26, chart.title, "title")]
    if len(chart.series) > 1:
        for i, name in enumerate(chart.series):
            x = MARGIN + 120 * i
            lines.append(f'<rect x="{x}" y="38" width="12" height="12" rx="2" '
                         f'class="bar{i}"/>')
            lines.append(text(x + 18, 48, name, "quiet"))
    y = top = TOP if len(chart.series) > 1 else TOP - 20
    for label, bars in chart.rows:
        height = BAR * sum(bar is not None for bar in bars)
        lines.append(text(LABELS - 8, y + height / 2 + 4, label, "", "end"))
        for i, bar in enumerate(bars):
            if bar is None:
                continue
            width = bar.value * scale
            lines.append(f'<rect x="{LABELS}" y="{y + 1}" width="{width:.1f}" '
                         f'height="{BAR - 2}" rx="2" class="bar{i}"/>')
            lines.append(text(LABELS + width + 6, y + 12, bar.said, "value"))
            y += BAR
        y += GAP
    if chart.line:
        lines.append(text(WIDTH - MARGIN, 26, "dashed: the same speed", "quiet",
                          "end"))
        x = LABELS + chart.line * scale
        lines.append(f'<line x1="{x:.1f}" y1="{top - 6}" x2="{x:.1f}" '
                     f'y2="{y - GAP + 4}" class="line"/>')
    return page(chart.title, y - GAP + MARGIN, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = []
    for chart in charts((DOCS / PAGE).read_text(encoding="utf-8")):
        path, drawn = DOCS / f"{chart.name}.svg", render(chart)
        if not check:
            path.write_text(drawn, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != drawn:
            stale.append(path.name)
    if stale:
        sys.exit(f"not what {PAGE} says: {', '.join(stale)}; "
                 "run docs/make_charts.py")


if __name__ == "__main__":
    main()
