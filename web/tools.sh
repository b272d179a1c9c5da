# Where the tools of the page are: read by setup.sh, build.sh and tests/web/run.sh, from the root of the repository.
# shellcheck shell=bash

tools_folder=$PWD/target-web/tools

# The glue's generator must be of exactly the version of the crate.
wasm_bindgen_version() {
  sed -n '/^name = "wasm-bindgen"$/{n;s/^version = "\(.*\)"/\1/p;}' Cargo.lock
}

# The wasm-bindgen of the right version, or nothing.
find_wasm_bindgen() {
  local wanted program
  wanted="wasm-bindgen $(wasm_bindgen_version)"
  for program in "$tools_folder/bin/wasm-bindgen" "$(command -v wasm-bindgen || true)"; do
    if [ -n "$program" ] && [ "$("$program" --version 2>/dev/null || true)" = "$wanted" ]; then
      echo "$program"
      return
    fi
  done
}

has_rustup_target() {
  local folder
  folder=$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null) && [ -d "$folder" ]
}

# Debian's compiler for the web brings the sources of the standard library, which is then built along.
has_debian_target() {
  compgen -G '/usr/src/rustc-*/library/std' >/dev/null && [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] &&
    command -v wasm-ld-19 >/dev/null
}

npm_packages_ready() {
  cmp -s web/package-lock.json web/node_modules/.plateau-lock
}

find_chromium() {
  local program
  for program in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    [ -n "$program" ] && command -v "$program" && return
  done
  return 1
}
