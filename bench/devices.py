"""Fits of Gaussian processes by the CPU and by a GPU, from the command line: time against rows, and the figure of it.

    python3 bench/devices.py measure PROGRAM TIMES.json     on a machine with a GPU (part of `just bench-cuda`)
    python3 bench/devices.py draw TIMES.json FIGURE.svg     anywhere

Tables are simulated: 8 inputs, a smooth function of five of them [Friedman 1991, eq. 56] with residuals of 1. Every fit is as a user
types it, four chains until their draws are enough, start and compilation of kernels included.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS = {"cuda": [125, 250, 500, 1000, 2000, 5000, 10000], "cpu": [125, 250, 500, 1000, 2000]}
INPUTS = 8
# Beyond so many seconds the next size, which takes about eight times as long, is not tried.
LONGEST = {"cuda": 150, "cpu": 40}


def table(path, rows):
    """Rows of x1 to x8 and y."""
    draw = random.Random(rows)
    with path.open("w") as file:
        file.write(",".join([f"x{k + 1}" for k in range(INPUTS)] + ["y"]) + "\n")
        for _ in range(rows):
            x = [draw.random() for _ in range(INPUTS)]
            f = 10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
            file.write(",".join(f"{value:.6f}" for value in [*x, f + draw.gauss(0, 1)]) + "\n")


def measure(program, out):
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for device, sizes in ROWS.items():
            times[device] = []
            for rows in sizes:
                data, run = folder / f"{rows}.csv", folder / f"{device}-{rows}"
                if not data.exists():
                    table(data, rows)
                begun = time.perf_counter()
                line = [program, "fit", data, "--target", "y", "--model", "gp", "--device", device, "--out", run, "--json", "--quiet"]
                done = subprocess.run(line, check=True, capture_output=True, text=True)
                seconds = time.perf_counter() - begun
                told = json.loads(done.stdout)
                times[device].append([rows, seconds])
                print(
                    f"{device}: {rows} rows fitted in {seconds:.1f} s, {told['chains']} chains of {told['draws']} draws"
                    f" ({told['stopped']}), computed by {told['device'].get('name', 'the CPU')}",
                    flush=True,
                )
                if seconds > LONGEST[device]:
                    break
    Path(out).write_text(json.dumps(times))


def draw(times, figure):
    """Both axes are logarithmic."""
    times = json.loads(Path(times).read_text())
    width, height, left, top, right, bottom = 640, 400, 70, 20, 20, 55
    points = [point for line in times.values() for point in line]
    rows = (min(p[0] for p in points) / 1.15, max(p[0] for p in points) * 1.15)
    ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500]
    least, most = min(p[1] for p in points), max(p[1] for p in points)
    ticks = [t for t in ticks if least / 2.5 < t < most * 2.5]
    seconds = (min(ticks[0], least) / 1.15, max(ticks[-1], most) * 1.15)

    def along(value, ends, start, length):
        return start + length * math.log(value / ends[0]) / math.log(ends[1] / ends[0])

    def x(value):
        return along(value, rows, left, width - left - right)

    def y(value):
        return height - along(value, seconds, bottom, height - top - bottom)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for value in sorted({p[0] for p in points}):
        out.append(f'<line x1="{x(value):.1f}" y1="{top}" x2="{x(value):.1f}" y2="{height - bottom}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{x(value):.1f}" y="{height - bottom + 18}" text-anchor="middle" fill="#333333">{value}</text>')
    for value in ticks:
        out.append(f'<line x1="{left}" y1="{y(value):.1f}" x2="{width - right}" y2="{y(value):.1f}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end" fill="#333333">{value}</text>')
    middle = (left + width - right) / 2
    out.append(f'<text x="{middle:.0f}" y="{height - 12}" text-anchor="middle" fill="#333333">rows</text>')
    out.append(f'<text x="16" y="{(top + height - bottom) / 2:.0f}" text-anchor="middle" fill="#333333" transform="rotate(-90 16 {(top + height - bottom) / 2:.0f})">seconds of a whole fit</text>')
    for device, colour, name in [("cpu", "#c2571a", "CPU, 16 cores"), ("cuda", "#1a5fc2", "GPU")]:
        line = times[device]
        path = " ".join(f"{x(p[0]):.1f},{y(p[1]):.1f}" for p in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(p[0]):.1f}" cy="{y(p[1]):.1f}" r="3.5" fill="{colour}"/>' for p in line]
        end = line[-1]
        anchor = "end" if x(end[0]) > width - 130 else "start"
        shift = -10 if anchor == "end" else 10
        out.append(f'<text x="{x(end[0]) + shift:.1f}" y="{y(end[1]) - 8:.1f}" text-anchor="{anchor}" fill="{colour}">{name}</text>')
    Path(figure).write_text("\n".join([*out, "</svg>", ""]))


if __name__ == "__main__":
    {"measure": measure, "draw": draw}[sys.argv[1]](*sys.argv[2:])
