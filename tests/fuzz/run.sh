#!/usr/bin/env bash
# Fuzzes with coverage feedback, by clang's libFuzzer, on all cores.
#
#   tests/fuzz/run.sh [--fast] HOURS [TARGET...]   all, or json, http2, ...
#
# Builds the preset `fuzz`. With --fast the preset `fuzz-fast`, too: that has no
# sanitizers, makes 3 to 10 times as many inputs, and what they reach is given
# to `fuzz` at the end. What was reached is kept in build/fuzz/corpus for the
# next run. Prints the executions and the findings of each target; inputs that
# found something are in build/fuzz/findings, made small. Exit code 1 if there
# are any. See README.md.
set -euo pipefail
cd "$(dirname "$0")/../.."

presets=(fuzz)
if [ "${1-}" = --fast ]; then
  presets+=(fuzz-fast)
  shift
fi
if [ $# -lt 1 ]; then
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
hours=$1
shift
built=build/fuzz/tests/fuzz
run=build/${presets[-1]}/tests/fuzz
mkdir -p build/fuzz/findings build/fuzz/logs

deploy/install_dependencies.sh --tests --clang
for preset in "${presets[@]}"; do cmake --preset "$preset" >/dev/null; done
if [ $# -gt 0 ]; then targets=("$@"); else
  mapfile -t targets < <(basename -s .options -a "$built"/*.options | sort)
fi
for preset in "${presets[@]}"; do
  cmake --build --preset "$preset" --target "${targets[@]/%/_fuzz}"
done

cores=$(nproc)
at_once=$((cores < ${#targets[@]} ? cores : ${#targets[@]}))
seconds=$(awk "BEGIN { print int($hours * 3600 * $at_once / ${#targets[@]}) }")

# Files of the targets, in memory if there is such a place.
TMPDIR=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)")
export TMPDIR
# What was freed is kept in the processor's caches.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=16}
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
  options=(-timeout=25 -rss_limit_mb=2048
    "-artifact_prefix=build/fuzz/findings/$name/" "${options[@]}")
  # To look for leaks takes longer than most inputs: at the end, in what was
  # reached, each input alone.
  {
    "$run/${name}_fuzz" -print_final_stats=1 -max_total_time="$seconds" \
      -detect_leaks=0 "${options[@]}" "$corpus" || true
    "$built/${name}_fuzz" "${options[@]}" -fork=0 -runs=0 "$corpus" || true
  } >"build/fuzz/logs/$name.log" 2>&1
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
