"""Turns the JSON lines of the Saxe benches into a Markdown table with ratios. Reads standard input."""

import json
import platform
import sys

rows = [json.loads(line) for line in sys.stdin if line.startswith("{")]
members = sorted({row["members"] for row in rows})


def rate(what, count):
    found = [row["steps_per_second"] for row in rows if row["members"] == count and row["what"].startswith(what)]
    return max(found, default=float("nan"))


print(f"Steps/s at d = 16, float32; {platform.processor() or platform.machine()}, best form of each peer.\n")
print("| members | numpy | cpu executor | cpu / numpy | gpu executor | floor | floor / gpu |")
print("|---|---|---|---|---|---|---|")
for count in members:
    numpy, cpu, gpu, floor = (rate(what, count) for what in ("numpy", "cpu", "gpu", "floor"))
    print(
        f"| {count:,} | {numpy:,.0f} | {cpu:,.0f} | **{cpu / numpy:.2f}** "
        f"| {gpu:,.0f} | {floor:,.0f} | **{floor / gpu:.2f}** |"
    )
versions = {row["numpy"] for row in rows if "numpy" in row}
overheads = [row["microseconds"] for row in rows if row["what"] == "floor"]
print(f"\nnumpy {', '.join(sorted(versions))}; a dispatch costs {', '.join(f'{o:.1f}' for o in overheads)} us.")
