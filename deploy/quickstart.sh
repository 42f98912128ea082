#!/bin/bash
# From a fresh Debian machine to translated sentences: installs what is missing,
# builds, starts the server with the bundled model, streams translations, shows
# which metrics moved, and stops all that it started.
#
#   deploy/quickstart.sh
#
# Debian 12 or 13, as root or with sudo. The first run takes minutes, the next
# seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/release
log=build/quickstart.log
scratch=$(mktemp -d)
server=

heading() { printf '\n== %s\n' "$*"; }

stop_server() {
  local code=0
  kill -TERM "$server"
  wait "$server" || code=$?
  server=
  return "$code"
}

clean_up() {
  if [ -n "$server" ]; then stop_server || true; fi
  rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a command with its output in the log, which is shown only if it fails.
quietly() {
  if ! "$@" >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "failed: $* (all output: $log)" >&2
    exit 1
  fi
}

# The value of a field of the server's log line "ready".
ready_field() {
  sed -n "s/.* event=ready .*\<$1=\([^ ]*\).*/\1/p" "$scratch/server.log"
}

start_server() {
  : >"$scratch/server.log"
  "$build/server/attend-server" --model=models/en-de \
    --host=127.0.0.1 --port=0 --http-host=127.0.0.1 --http-port=0 \
    2>>"$scratch/server.log" &
  server=$!
  until [ -n "$(ready_field http_port)" ]; do
    if ! kill -0 "$server" 2>/dev/null; then
      cat "$scratch/server.log" >&2
      server=
      exit 1
    fi
    sleep 0.1
  done
  grpc_port=$(ready_field grpc_port)
  http_port=$(ready_field http_port)
  deploy/http_get.sh "$http_port" /readyz >/dev/null
}

translate() {
  local sentence
  while read -r sentence; do
    printf '  en: %s\n  de: ' "$sentence"
    "$build/client/attend" translate --stream \
      --address "127.0.0.1:$grpc_port" "$sentence"
  done
}

# Between two scrapes: counters by how much they grew, histograms by how many
# values came, with their mean. (Gauges are back where they were.)
show_difference() {
  awk '
    $1 == "#" && $2 == "TYPE" { gauge = $4 == "gauge" }
    /^#/ || /^process_/ || gauge { next }
    { value = $NF; series = substr($0, 1, length($0) - length($NF) - 1) }
    NR == FNR { before[series] = value; next }
    value == before[series] || series ~ /_bucket\{/ { next }
    series ~ /_sum\{/ { sum[series] = value - before[series]; next }
    series ~ /_count\{/ {
      count = value - before[series]
      sub(/_count\{/, "{", series)
      seen[++n] = series; counts[n] = count; next
    }
    { printf "  %-72s +%d\n", series, value - before[series] }
    END {
      for (i = 1; i <= n; ++i) {
        name = seen[i]; sub(/\{/, "_sum{", name)
        unit = seen[i] ~ /_seconds\{/ ? " s" : ""
        printf "  %-72s +%d, mean %.4g%s\n", seen[i], counts[i],
          sum[name] / counts[i], unit
      }
    }' "$1" "$2"
}

mkdir -p build
: >"$log"

heading "Dependencies"
deploy/install_dependencies.sh
echo "installed"

heading "Build ($build; the first time takes minutes, output in $log)"
quietly cmake --preset release -DATTEND_TESTS=OFF
quietly cmake --build "$build" --target attend-server attend
echo "$build/server/attend-server, $build/client/attend"

heading "Server"
start_server
echo "models/en-de, gRPC on port $grpc_port, metrics on port $http_port," \
  "$(ready_field threads) threads, ready after $(ready_field seconds) s"
deploy/http_get.sh "$http_port" /metrics >"$scratch/before"

heading "Translations, streamed (attend translate --stream)"
translate <<'SENTENCES'
Two dogs are running through the snow.
A man in a blue shirt is standing on a ladder cleaning a window.
Several people are sitting at a table outside a restaurant.
A group of children are playing soccer in the park.
I'm looking for my keys.
Do you want to drink a cup of coffee?
SENTENCES

heading "Metrics that moved"
deploy/http_get.sh "$http_port" /metrics >"$scratch/after"
show_difference "$scratch/before" "$scratch/after"

heading "Stop"
stop_server
echo "server drained and ended with exit code 0"
