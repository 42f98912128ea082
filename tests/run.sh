#!/bin/sh
# Builds everything and runs all tests, from nothing.
#
#   tests/run.sh [PRESET]     release (the default: what is shipped), asan or tsan
#
# What is missing is installed first (see deploy/install_dependencies.sh).
set -eu
cd "$(dirname "$0")/.."
preset=${1-release}

deploy/install_dependencies.sh --tests
begin=$(date +%s)
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
echo "built $preset in $(($(date +%s) - begin)) s"
ctest --preset "$preset" --parallel "$(nproc)"
