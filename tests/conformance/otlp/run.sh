#!/bin/sh
# Traces as OpenTelemetry's own packages for Python make and read them, of a
# real server with the bundled model.
#
#   tests/conformance/otlp/run.sh ATTEND_SERVER FOLDER [TEST]
#
# FOLDER keeps the environment. TEST, by default otlp_test.py, may be
# real_collector.py, which is run by hand.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the environment in}
export PYTHONPYCACHEPREFIX="$folder/bytecode"

"$here/../environment.sh" "$folder/otlp" "$here/requirements.txt"
export ATTEND_SERVER="$server" PYTHONPATH="$here/.."
export ATTEND_COLLECTOR_FOLDER="$folder/collector"
"$folder/otlp/bin/python" "$here/${3:-otlp_test.py}"
