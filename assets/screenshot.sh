#!/bin/sh
# Makes the README's picture of the window, assets/window.png, without a display of its own:
#   assets/screenshot.sh [FILE [WIDTHxHEIGHT [SECONDS [KEYS…]]]]
# KEYS are pressed when the window is there, as xdotool names them: `t` for the other theme, `f`
# for the presentation mode, `n` for the next preset. Needs Xvfb, xdotool, ImageMagick and a
# Vulkan driver (setup.sh installs the last one).
set -eu
cd "$(dirname "$0")/.."
file=${1:-assets/window.png}
size=${2:-1280x720}
seconds=${3:-8}
if [ $# -gt 3 ]; then shift 3; else set --; fi
for tool in xvfb-run xdotool import; do
    command -v "$tool" >/dev/null || { echo "screenshot.sh: needs $tool (Debian: xvfb xdotool imagemagick)" >&2; exit 2; }
done
cargo build --release
program=$(pwd)/${CARGO_TARGET_DIR:-target}/release/plateau
export program file size seconds
exec xvfb-run -a -s "-screen 0 ${size}x24" sh -eu -c '
    "$program" &
    window=$!
    trap "kill $window" EXIT
    id=
    for _ in $(seq 100); do
        id=$(xdotool search --onlyvisible --name "^Plateau$" 2>/dev/null | head -n 1) && [ -n "$id" ] && break
        sleep 0.1
    done
    [ -n "$id" ] || { echo "screenshot.sh: no window came up" >&2; exit 1; }
    xdotool windowsize "$id" "${size%x*}" "${size#*x}" windowmove "$id" 0 0 windowfocus "$id"
    # Where the pointer hovers over nothing.
    xdotool mousemove "$((${size%x*} - 2))" "$((${size#*x} - 2))"
    sleep 1
    for key in "$@"; do xdotool key "$key"; sleep 0.3; done
    sleep "$seconds"
    import -window root -strip "$file"
' sh "$@"
