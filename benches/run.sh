#!/usr/bin/env bash
# Measures the Saxe lab and its peer side by side and prints the table of benches/README.md.
#
# Usage: benches/run.sh   (python3 with venv; numpy is installed into target/bench-venv)
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/bench-venv
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet numpy==2.4.6
fi

cargo build --release --bench saxe --quiet
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
cargo bench --quiet --bench saxe 2>/dev/null >"$lines"
"$venv/bin/python" benches/numpy_saxe.py >>"$lines"
"$venv/bin/python" benches/table.py <"$lines"
