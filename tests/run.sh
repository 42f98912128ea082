#!/bin/sh
# Builds everything and runs all tests, from nothing.
#
#   tests/run.sh [PRESET [OPTION...]]     options are cmake's
#
# PRESET: release (the default: what is shipped), asan or tsan.
# What is missing is installed first (see deploy/install_dependencies.sh).
# Tests that look at texts alone run before anything is built.
set -eu
cd "$(dirname "$0")/.."
preset=${1-release}
[ $# -eq 0 ] || shift

# Runs the words after the first, then prints how long that took.
timed() {
  what=$1
  shift
  begin=$(date +%s)
  "$@"
  echo "$preset: $what in $(($(date +%s) - begin)) s"
}

case "$preset" in
  asan | tsan) deploy/install_dependencies.sh --tests --clang ;;
  *) deploy/install_dependencies.sh --tests ;;
esac
cmake --preset "$preset" "$@" >/dev/null
ctest --preset "$preset" -L texts --no-tests=ignore
timed built cmake --build --preset "$preset"
timed tested ctest --preset "$preset" -LE texts --parallel "$(nproc)"
