#!/bin/sh
# Traces as OpenTelemetry's own packages for Python make and read them, of a
# real server with the bundled model.
#
#   tests/conformance/otlp/run.sh ATTEND_SERVER FOLDER
#
# FOLDER keeps the environment.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the environment in}
export PYTHONPYCACHEPREFIX="$folder/bytecode"

"$here/../environment.sh" "$folder/otlp" "$here/requirements.txt"
export ATTEND_SERVER="$server" PYTHONPATH="$here/.."
"$folder/otlp/bin/python" "$here/otlp_test.py"
