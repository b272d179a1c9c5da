#!/usr/bin/env bash
# Makes web/dist, the page as a static folder: the program as WebAssembly with its glue, and the files beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
. web/tools.sh

debug=false
case "${1:-}" in
  "") ;;
  --debug) debug=true ;;
  -h | --help)
    cat <<'HELP'
usage: web/build.sh [--debug]

Makes web/dist. --debug keeps function names for stack traces and skips wasm-opt: larger and slower.
PLATEAU_TOOLCHAIN=rustup or debian says which compiler to take; otherwise the first that is there.
HELP
    exit 0
    ;;
  *) echo "build: unknown option $1; web/build.sh --help" >&2; exit 2 ;;
esac

# All files together, gzipped: what a first visit costs.
most=2500000

say() { echo "build: $*"; }
fail() { echo "build: $*" >&2; exit 1; }

toolchain() {
  if [ -n "${PLATEAU_TOOLCHAIN:-}" ]; then
    echo "$PLATEAU_TOOLCHAIN"
  elif has_rustup_target; then
    echo rustup
  elif has_debian_target; then
    echo debian
  fi
}

# What both compilers get. Paths of this machine do not belong into the messages of a panic.
rust_flags() {
  local folder flags="-C target-feature=+simd128 --remap-path-prefix=$PWD=."
  for folder in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    flags+=" --remap-path-prefix=$folder=crates"
  done
  echo "$flags"
}

# The native profile stays as it is. No `strip`: the glue's generator reads what it would take.
compile() {
  local arguments=(build --release --lib --target wasm32-unknown-unknown --target-dir target-wasm --config web/profile.toml)
  export RUSTFLAGS
  RUSTFLAGS=$(rust_flags)
  case "$1" in
    rustup)
      say "compiling with $(rustc --version)"
      cargo "${arguments[@]}"
      ;;
    debian)
      say "compiling with Debian's $(/usr/bin/rustc --version), its standard library along"
      env -u RUSTUP_TOOLCHAIN RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-19 \
        /usr/bin/cargo "${arguments[@]}" -Zbuild-std=std,panic_abort
      ;;
    *) fail "no compiler for wasm32-unknown-unknown; ./setup.sh --web installs one" ;;
  esac
}

# What the compilers take for granted of every browser, and SIMD.
features=(
  --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals
  --enable-reference-types --enable-multivalue --enable-simd
)

glue() {
  local options=(--target web --no-typescript --out-name plateau --out-dir "$1")
  if $debug; then
    options+=(--keep-debug)
  else
    options+=(--remove-name-section --remove-producers-section)
  fi
  "$wasm_bindgen" "${options[@]}" target-wasm/wasm32-unknown-unknown/release/plateau.wasm
}

optimise() {
  local wasm=$1/plateau_bg.wasm
  say "optimising ($(stat -c %s "$wasm") bytes)"
  web/node_modules/.bin/wasm-opt -O3 --strip-debug --strip-producers "${features[@]}" "$wasm" -o "$wasm.small"
  mv "$wasm.small" "$wasm"
}

version() {
  local crate commit
  crate=$(sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head -n1)
  commit=$(git describe --always --dirty=+changes 2>/dev/null || true)
  echo "$crate${commit:+ ($commit)}"
}

static_files() {
  local folder=$1 bytes
  cp web/boot.js web/early.js web/failure.js web/storage.js web/worker.js web/style.css web/icon.svg web/manifest.webmanifest "$folder"
  bytes=$(stat -c %s "$folder/plateau_bg.wasm")
  sed -e "s|\(name=\"plateau-version\" content=\"\)[^\"]*|\1$(version)|" \
    -e "s|\(name=\"plateau-bytes\" content=\"\)[^\"]*|\1$bytes|" web/index.html >"$folder/index.html"
}

sizes() {
  local file raw packed total=0
  printf '%-28s %12s %12s\n' "" bytes gzipped
  for file in "$1"/*; do
    raw=$(stat -c %s "$file")
    packed=$(gzip -9 -c "$file" | wc -c)
    total=$((total + packed))
    printf '%-28s %12d %12d\n' "$(basename "$file")" "$raw" "$packed"
  done
  printf '%-28s %12s %12d\n' "in all" "" "$total"
  if ! $debug && [ "$total" -gt "$most" ]; then
    fail "larger than the $most bytes that a first visit may cost"
  fi
}

wasm_bindgen=$(find_wasm_bindgen)
[ -n "$wasm_bindgen" ] || fail "wasm-bindgen $(wasm_bindgen_version) is missing; ./setup.sh --web installs it"
$debug || [ -x web/node_modules/.bin/wasm-opt ] || fail "wasm-opt is missing; ./setup.sh --web installs it"

compile "$(toolchain)"
# Made beside and moved at the end: a page being served is never half new.
fresh=target-web/dist
rm -rf "$fresh"
mkdir -p "$fresh"
glue "$fresh"
$debug || optimise "$fresh"
static_files "$fresh"
sizes "$fresh"
rm -rf web/dist
mv "$fresh" web/dist
say "web/dist is ready; web/serve.sh shows it"
