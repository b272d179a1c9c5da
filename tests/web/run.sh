#!/usr/bin/env bash
# Tests the page in a real browser without a display; builds it first if it is missing. Pictures go to target-web/shots.
# usage: tests/web/run.sh [WORDS OF A CHECK'S NAME]
set -euo pipefail
cd "$(dirname "$0")/../.."
. web/tools.sh

[ -d web/node_modules/playwright-core ] && find_chromium >/dev/null ||
  { echo "run: playwright-core or Chromium is missing; ./setup.sh --web installs them" >&2; exit 1; }
[ -f web/dist/plateau_bg.wasm ] || web/build.sh
options=(--test --test-reporter=spec)
[ -z "${1:-}" ] || options+=(--test-name-pattern "$1")
node "${options[@]}" tests/web/all.mjs
