#!/usr/bin/env bash
# Fuzzes with coverage feedback, by clang's libFuzzer, on all cores.
#
#   tests/fuzz/run.sh HOURS [TARGET...]       all targets, or json, http2, ...
#
# Builds the preset `fuzz`. What was reached is kept in build/fuzz/corpus for
# the next run. Prints the executions and the findings of each target; inputs
# that found something are in build/fuzz/findings, made small. Exit code 1 if
# there are any. See README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ $# -lt 1 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
hours=$1
shift
built=build/fuzz/tests/fuzz
mkdir -p build/fuzz/findings build/fuzz/logs

deploy/install_dependencies.sh --tests --fuzz
cmake --preset fuzz >/dev/null
if [ $# -gt 0 ]; then targets=("$@"); else
  mapfile -t targets < <(basename -s .options -a "$built"/*.options | sort)
fi
cmake --build --preset fuzz --target "${targets[@]/%/_fuzz}"

cores=$(nproc)
at_once=$((cores < ${#targets[@]} ? cores : ${#targets[@]}))
seconds=$(awk "BEGIN { print int($hours * 3600 * $at_once / ${#targets[@]}) }")

# Files of the targets, in memory if there is such a place.
TMPDIR=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# The inputs that found something; `timeout` and `oom` of libFuzzer are too slow,
# and too large.
findings() {
  find "build/fuzz/findings/$1" -regex '.*/\(crash\|leak\|oom\|timeout\)-[0-9a-f]*'
}

fuzz() {
  local name=$1 corpus=build/fuzz/corpus/$1 options found seed
  mkdir -p "$corpus" "build/fuzz/findings/$name"
  while read -r seed; do
    cp "$seed" "$corpus/seed-$(sha256sum "$seed" | cut -c 1-16)"
  done <"$built/$name.seeds"
  mapfile -t options <"$built/$name.options"
  "$built/${name}_fuzz" -timeout=25 -rss_limit_mb=2048 -print_final_stats=1 \
    -max_total_time="$seconds" -artifact_prefix="build/fuzz/findings/$name/" \
    "${options[@]}" "$corpus" >"build/fuzz/logs/$name.log" 2>&1 || true
  if printf '%s\n' "${options[@]}" | grep -q ignore_; then
    rm -f "build/fuzz/findings/$name"/{oom,timeout}-*
  fi
  for found in $(findings "$name"); do
    [ -e "$found.small" ] || "$built/${name}_fuzz" -minimize_crash=1 \
      -max_total_time=60 -exact_artifact_path="$found.small" "$found" \
      >/dev/null 2>&1 || true
  done
}

for name in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
  fuzz "$name" &
done
wait

any=0
printf '%-24s%14s%10s\n' target executions findings
for name in "${targets[@]}"; do
  # The last number that the log has.
  executions=$(grep -oE '^#[0-9]+|executed_units: [0-9]+' \
    "build/fuzz/logs/$name.log" | grep -oE '[0-9]+$' | sort -n | tail -n 1)
  count=$(findings "$name" | wc -l)
  printf '%-24s%14s%10s\n' "$name" "$executions" "$count"
  [ "$count" -eq 0 ] || any=1
done
exit "$any"
