#!/usr/bin/env bash
# Two copies of the engine play whole games in XBoard on a virtual display; every game must end by the rules.
#
# Fails on a forfeit, an illegal move, a claim that XBoard does not believe, a game that is not finished, or a game that
# `fairyforge pgn check` cannot play through. XBoard decides nothing itself: its adjudications are off, its checks of moves
# and claims are on. Without XBoard, Xvfb or (for a picture) ImageMagick it says SKIPPED and exits 0.
set -euo pipefail

usage() {
    cat <<'USAGE'
usage: xboard-match.sh [options] [VARIANT...]

VARIANT           names as XBoard is told them (default: herculean sorcerer sorcerer-reinforcements opulent-lemurian)
--games N         games of each variant (default 20)
--tc M:SS         time for a side and game (default 0:03)
--inc SECONDS     increment (default 0.03)
--timeout S       longest that a variant's games may take, in seconds (default 1800)
--engine PATH     the engine (default: target/debug/fairyforge-engine, or below $CARGO_TARGET_DIR)
--reader PATH     the program `fairyforge`, which reads the games back (default: beside the engine)
--out DIR         where games and logs go (default: a new folder under the temporary one)
--screenshot PNG  instead of a match: one game of the first variant, its window taken in the middle game
--move N          the full move after which the picture is taken (default 18)
--install         fetch the Debian packages first (apt-get, as root)
USAGE
}

games=20 tc=0:03 inc=0.03 limit=1800 engine= reader= out= screenshot= at_move=18 install=no
variants=()
while (($#)); do
    case $1 in
        --games) games=$2; shift 2 ;;
        --tc) tc=$2; shift 2 ;;
        --inc) inc=$2; shift 2 ;;
        --timeout) limit=$2; shift 2 ;;
        --engine) engine=$2; shift 2 ;;
        --reader) reader=$2; shift 2 ;;
        --out) out=$2; shift 2 ;;
        --screenshot) screenshot=$2; shift 2 ;;
        --move) at_move=$2; shift 2 ;;
        --install) install=yes; shift ;;
        -h | --help) usage; exit 0 ;;
        -*) usage >&2; exit 2 ;;
        *) variants+=("$1"); shift ;;
    esac
done
((${#variants[@]})) || variants=(herculean sorcerer sorcerer-reinforcements opulent-lemurian)

skip() {
    echo "SKIPPED: $1. No game was played in XBoard, nothing is shown." >&2
    exit 0
}

if [[ $install == yes ]] && ! { apt-get update -q && apt-get install -y -q --no-install-recommends xboard xvfb imagemagick xdotool; }; then
    echo "the Debian packages could not be fetched; going on with what is here" >&2
fi
PATH=$PATH:/usr/games # where Debian puts xboard
command -v xboard >/dev/null || skip "xboard is not installed (Debian: apt-get install xboard, or --install)"
command -v Xvfb >/dev/null || skip "Xvfb is not installed (Debian: apt-get install xvfb, or --install)"
if [[ -n $screenshot ]]; then
    command -v import >/dev/null || skip "import is not installed (Debian: apt-get install imagemagick, or --install)"
    command -v xdotool >/dev/null || skip "xdotool is not installed (Debian: apt-get install xdotool, or --install)"
fi

root=$(cd "$(dirname "$0")/../../.." && pwd)
engine=$(realpath "${engine:-${CARGO_TARGET_DIR:-$root/target}/debug/fairyforge-engine}")
reader=${reader:-$(dirname "$engine")/fairyforge}
[[ -x $engine ]] || { echo "error: no engine at $engine: cargo build -p fairyforge-engine" >&2; exit 2; }
[[ -x $reader || -n $screenshot ]] || { echo "error: no reader at $reader: cargo build -p fairyforge" >&2; exit 2; }
out=${out:-$(mktemp -d)}
mkdir -p "$out"
out=$(realpath "$out")

# A display of our own, which the server picks, and a home of our own, so that nobody's settings count.
display=$out/display
: >"$display"
Xvfb -displayfd 3 -screen 0 1400x1100x24 -nolisten tcp 3>"$display" >"$out/xvfb.log" 2>&1 &
server=$!
gui=
cleanup() {
    [[ -z $gui ]] || kill "$gui" 2>/dev/null || true
    kill "$server" 2>/dev/null || true
    wait 2>/dev/null || true
}
trap cleanup EXIT
for _ in {1..100}; do
    [[ -s $display ]] && break
    sleep 0.1
done
[[ -s $display ]] || { echo "error: Xvfb did not start; see $out/xvfb.log" >&2; exit 1; }
DISPLAY=:$(<"$display")
export DISPLAY HOME=$out

# xboard_options FOLDER: everything but the variant.
xboard_options() {
    echo -fcp "$engine" -fd . -scp "$engine" -sd . -xponder -xexit -matchPause 10 -saveSettingsOnExit false \
        -testLegality true -testClaims true -checkMates false -materialDraws false -trivialDraws false \
        -repeatsToDraw 0 -ruleMoves 0 -xanimate -tc "$tc" -inc "$inc" -sgf "$1/games.pgn" \
        -debugMode true -nameOfDebugFile "$1/debug.txt"
}

take_screenshot() {
    local variant=$1 folder=$out/screenshot window
    mkdir -p "$folder"
    # shellcheck disable=SC2046 # the options are words
    xboard $(xboard_options "$folder") -variant "$variant" -mg 1 -size 72 -useBoardTexture false -showButtonBar false \
        -coords -titleInWindow false >"$folder/xboard.log" 2>&1 &
    gui=$!
    for _ in $(seq "$limit"); do
        sleep 0.2
        if [[ $(grep -c '^[0-9]* [<>]\(first\|second\) *: move' "$folder/debug.txt" 2>/dev/null || true) -ge $((2 * at_move)) ]]; then
            kill -STOP "$gui" 2>/dev/null || true
            break
        fi
    done
    window=$(xdotool search --onlyvisible --class xboard | tail -n 1)
    import -window "$window" -colors 64 "png8:$screenshot"
    kill -CONT "$gui" 2>/dev/null || true
    kill "$gui" 2>/dev/null || true
    gui=
    echo "$screenshot: $variant after move $at_move, $(stat -c %s "$screenshot") bytes"
}

play_match() {
    local variant=$1 folder=$out/$1 played bad=0
    mkdir -p "$folder"
    rm -f "$folder/games.pgn" "$folder/debug.txt"
    # shellcheck disable=SC2046
    timeout "$limit" xboard $(xboard_options "$folder") -variant "$variant" -mg "$games" >"$folder/xboard.log" 2>&1 &
    gui=$!
    wait "$gui" || { echo "  xboard ended with status $?" >&2; bad=1; }
    gui=
    played=$(grep -c '^\[Result "' "$folder/games.pgn" || true)
    echo "$variant: $played of $games games"
    # What XBoard notes as the end of a game stands in braces before the result, at the end of the last line.
    grep -oE '\{[^{}]*\} (1-0|0-1|1/2-1/2|\*)$' "$folder/games.pgn" | sort | uniq -c | sort -rn | sed 's/^/  /' || true
    [[ $played -eq $games ]] || { echo "  FAULT: games are missing" >&2; bad=1; }
    if grep -qE '^\[Result "\*"\]' "$folder/games.pgn"; then
        echo "  FAULT: a game was not finished" >&2
        bad=1
    fi
    if grep -niE '\{[^{}]*(forfeit|illegal|invalid|false|adjudication|resign|time)[^{}]*\}' "$folder/games.pgn"; then
        echo "  FAULT: a game did not end by the rules" >&2
        bad=1
    fi
    if grep -nE 'llegal move|Error|tellusererror' "$folder/debug.txt" "$folder/xboard.log"; then
        echo "  FAULT: engine and XBoard did not understand each other" >&2
        bad=1
    fi
    "$reader" pgn check "$folder/games.pgn" >"$folder/check.txt" 2>&1 || bad=1
    sed 's/^/  /' "$folder/check.txt"
    return "$bad"
}

if [[ -n $screenshot ]]; then
    screenshot=$(realpath -m "$screenshot")
    take_screenshot "${variants[0]}"
    exit 0
fi
failed=0
for variant in "${variants[@]}"; do
    play_match "$variant" || failed=1
done
if ((failed)); then
    echo "FAILED: see $out" >&2
    exit 1
fi
echo "All games ended by the rules and were read back; they are in $out"
