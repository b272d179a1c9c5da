#!/usr/bin/env bash
# Installs what a bare Debian or Ubuntu lacks to build, run and test Plateau. Safe to run twice.
set -euo pipefail

help() {
  cat <<'HELP'
usage: ./setup.sh [--web] [--help]

On Debian and Ubuntu, installs what is missing of
  - the packages to build with (gcc, libc6-dev), the libraries that a window needs, a Vulkan driver
    (mesa-vulkan-drivers: Intel, AMD, and one in software for machines without a GPU) and
    spirv-tools for the tests; this part needs root and asks sudo for it;
  - a Rust toolchain in your home folder, with rustup, if cargo is missing or too old.
With --web also what building, serving and testing the page need: Rust's target for WebAssembly (from rustup,
or else Debian's compiler for the web), wasm-bindgen in target-web/ (built, some minutes), node, the two npm
packages that web/package.json pins, and Chromium for the tests.
Says what it does before it does it, and leaves alone what is there. Elsewhere it says what is needed.
CI=true asks no questions.
HELP
}

web=false
case "${1:-}" in
  "") ;;
  --web) web=true ;;
  -h | --help) help; exit 0 ;;
  *) echo "setup: unknown option $1; ./setup.sh --help" >&2; exit 2 ;;
esac
cd "$(dirname "$0")"

say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }

# rust-version of the manifest: the only place that says it.
needed=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)

build_packages=(gcc libc6-dev)
run_packages=(
  mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri
  libxkbcommon0 libxkbcommon-x11-0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2
  libwayland-client0 libwayland-egl1
)
test_packages=(spirv-tools)

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif [ "${CI:-}" = true ]; then
    sudo -n "$@"
  else
    sudo "$@"
  fi
}

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install_packages() {
  local packages=("${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}")
  new_enough_cargo || packages+=(curl ca-certificates)
  install_missing "${packages[@]}"
}

# Of these Debian packages, those that are not there yet.
install_missing() {
  local package missing=()
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then
    return
  fi
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    fail "packages need root, and there is no sudo; as root: apt-get install ${missing[*]}"
  fi
  say "installing packages as root: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}" >/dev/null
}

# Whether this cargo is at least as new as the manifest asks.
cargo_is_new() {
  local version
  version=$("$1" --version 2>/dev/null | cut -d' ' -f2) || return 1
  [ -n "$version" ] && [ "$(printf '%s\n' "$needed" "$version" | sort -V | head -n1)" = "$needed" ]
}

new_enough_cargo() {
  command -v cargo >/dev/null && cargo_is_new "$(command -v cargo)"
}

home_bin="${CARGO_HOME:-$HOME/.cargo}/bin"

install_rust() {
  if new_enough_cargo; then
    return
  fi
  if ! [ -x "$home_bin/cargo" ] || ! cargo_is_new "$home_bin/cargo"; then
    if [ -x "$home_bin/rustup" ]; then
      say "updating Rust's stable toolchain in ${home_bin%/bin}: $needed or newer is needed"
      "$home_bin/rustup" toolchain install stable --profile minimal --component rustfmt --component clippy
      "$home_bin/rustup" default stable
    else
      say "installing Rust with rustup into ${home_bin%/bin}: $needed or newer is needed"
      curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
        sh -s -- -y --profile minimal --component rustfmt --component clippy
    fi
  fi
  cargo_is_new "$home_bin/cargo" || fail "cargo in $home_bin is still older than $needed"
  reachable_cargo
}

# `./setup.sh && cargo ...` runs in a shell whose PATH was made before Rust came.
reachable_cargo() {
  local folder=/usr/local/bin
  case ":$PATH:" in *":$HOME/.local/bin:"*) folder=$HOME/.local/bin ;; esac
  if [ -e "$folder/cargo" ] || [ -L "$folder/cargo" ]; then
    say "put $home_bin first in your PATH: . ${home_bin%/bin}/env"
    return
  fi
  say "linking cargo into $folder, so that the next command finds it"
  if [ -w "$folder" ]; then
    ln -s "$home_bin/cargo" "$folder/cargo"
  elif [ "$folder" = /usr/local/bin ]; then
    as_root ln -s "$home_bin/cargo" "$folder/cargo"
  else
    mkdir -p "$folder"
    ln -s "$home_bin/cargo" "$folder/cargo"
  fi
}

tell_other_system() {
  case "$1" in
    macos) say "macOS needs Xcode's command line tools: xcode-select --install" ;;
    windows) say "Windows needs Visual Studio's C++ build tools and Rust from https://rustup.rs" ;;
    fedora) say "Fedora needs: sudo dnf install gcc vulkan-loader mesa-vulkan-drivers libxkbcommon-x11 libXcursor libXi libXrandr spirv-tools" ;;
    arch) say "Arch needs: sudo pacman -S --needed gcc vulkan-icd-loader vulkan-swrast libxkbcommon-x11 libxcursor libxi libxrandr spirv-tools" ;;
    *) say "not Debian or Ubuntu: needs gcc, a Vulkan loader and driver, libxkbcommon-x11, libXcursor, libXi, libXrandr, spirv-tools" ;;
  esac
}

# debian, fedora, arch, macos, windows or other
system() {
  case "$(uname -s)" in
    Darwin) echo macos; return ;;
    MINGW* | MSYS* | CYGWIN*) echo windows; return ;;
  esac
  local ID="" ID_LIKE=""
  [ -r /etc/os-release ] && . /etc/os-release
  case " $ID $ID_LIKE " in
    *" debian "* | *" ubuntu "*) echo debian ;;
    *" fedora "* | *" rhel "*) echo fedora ;;
    *" arch "*) echo arch ;;
    *) echo other ;;
  esac
}

# Rust's target for WebAssembly: rustup's where it can be had, else Debian's compiler beside it.
install_web_target() {
  if has_rustup_target; then
    return
  fi
  if command -v rustup >/dev/null; then
    say "adding rustup's target wasm32-unknown-unknown"
    if rustup -q target add wasm32-unknown-unknown && has_rustup_target; then
      return
    fi
    say "rustup could not add it"
  fi
  if has_debian_target; then
    return
  fi
  [ "$here" = debian ] || fail "the target wasm32-unknown-unknown is needed: rustup target add wasm32-unknown-unknown"
  say "taking Debian's compiler for the web instead"
  install_missing rustc-web cargo-web rust-web-src lld-19
  has_debian_target || fail "rustc-web, cargo-web, rust-web-src and lld-19 do not make a compiler for the web"
}

install_wasm_bindgen() {
  if [ -n "$(find_wasm_bindgen)" ]; then
    return
  fi
  say "building wasm-bindgen $(wasm_bindgen_version) into target-web/tools (some minutes)"
  # With --locked it fails. It runs for a second or two: optimising it less saves more than that.
  CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_TARGET_DIR=target-web/tools-build \
    cargo install --quiet --force --root "$tools_folder" --version "$(wasm_bindgen_version)" wasm-bindgen-cli
  rm -rf target-web/tools-build
  [ -n "$(find_wasm_bindgen)" ] || fail "wasm-bindgen $(wasm_bindgen_version) was built and does not run"
}

node_is_new() {
  local major
  major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
  [ -n "$major" ] && [ "$major" -ge 18 ]
}

install_npm_packages() {
  if npm_packages_ready; then
    return
  fi
  say "installing web/package.json's npm packages into web/node_modules"
  npm ci --prefix web --silent
  cp web/package-lock.json web/node_modules/.plateau-lock
}

install_web() {
  local packages=()
  # shellcheck source=web/tools.sh
  . web/tools.sh
  command -v git >/dev/null || packages+=(git)
  node_is_new || packages+=(nodejs)
  command -v npm >/dev/null || packages+=(npm)
  find_chromium >/dev/null || packages+=(chromium)
  if [ "$here" = debian ]; then
    install_missing "${packages[@]}"
  elif [ ${#packages[@]} != 0 ]; then
    say "the page also needs: ${packages[*]}"
  fi
  node_is_new || fail "node 18 or newer is needed for the page"
  install_web_target
  install_wasm_bindgen
  install_npm_packages
  say "ready: web/build.sh makes the page, web/serve.sh shows it, tests/web/run.sh tests it"
}

here=$(system)
if [ "$here" = debian ]; then
  install_packages
else
  tell_other_system "$here"
fi
if [ "$here" = windows ]; then
  new_enough_cargo || fail "cargo $needed or newer is needed"
else
  install_rust
fi
say "ready: cargo run --release opens the window, cargo test --release runs the tests"
if $web; then
  install_web
fi
