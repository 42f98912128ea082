#!/usr/bin/env bash
# Checks the product's sources by clang-tidy (.clang-tidy), as the preset asan
# compiles them, some files at once: in some three minutes on two cores. What is
# missing is installed and built first; that is little after `tests/run.sh asan`.
# Findings alone are printed.
set -euo pipefail
cd "$(dirname "$0")/.."
deploy/install_dependencies.sh --tests --clang
cmake --preset asan >/dev/null
cmake --build --preset asan
# Those that unity files have in them, those alone, and none that is generated.
jq -r --arg root "$PWD/" '.[].file | ltrimstr($root)
    | select(test("^(build/asan/)?(tests|proto)/") | not)
    | select(test("/Unity/") or (startswith("build/") | not))' \
  build/asan/compile_commands.json |
  xargs -P "$(nproc)" -n 4 clang-tidy-19 -p build/asan --quiet \
    2> >(grep -vE ' warnings generated\.$|\] Processing file ' >&2)
