#!/usr/bin/env bash
# Serves web/dist on this machine and prints the address, and only that, on its standard output. Builds it first if it is missing.
set -euo pipefail
cd "$(dirname "$0")"

case "${1:-}" in
  -h | --help) echo "usage: web/serve.sh [PORT]   (any free port if none is given)"; exit 0 ;;
esac
command -v node >/dev/null || { echo "serve: node is missing; ./setup.sh --web installs it" >&2; exit 1; }
[ -f dist/plateau_bg.wasm ] || ./build.sh >&2
exec node serve.mjs dist "${1:-0}"
