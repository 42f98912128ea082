#!/bin/sh
# JSON of 40 schemas, checked by the package jsonschema: see generate_json.py.
#
#   tests/conformance/json/run.sh ATTEND_SERVER FOLDER [options of the script]
#
# FOLDER keeps the environment, that of oip/run.sh.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the environment in}
export PYTHONPYCACHEPREFIX="$folder/bytecode"
shift 2

"$here/../environment.sh" "$folder/python" "$here/../oip/requirements.txt"
python=$folder/python/bin/python
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
"$python" -m grpc_tools.protoc -I"$root/proto" \
  --python_out="$stubs" --grpc_python_out="$stubs" attend/v1/attend.proto
export ATTEND_SERVER="$server" PYTHONPATH="$stubs:$here/.."
"$python" "$here/generate_json.py" "$@"
