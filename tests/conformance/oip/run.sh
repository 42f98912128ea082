#!/bin/sh
# The Open Inference Protocol, by the clients that others wrote: their packages
# from PyPI, real models, a real server.
#
#   tests/conformance/oip/run.sh ATTEND_SERVER FOLDER
#
# FOLDER keeps the environment and the models. With ATTEND_WRITE_CONFORMANCE=1
# the tables in docs/protocols.md are written, else compared.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the environment in}
export PYTHONPYCACHEPREFIX="$folder/bytecode"

"$here/../environment.sh" "$folder/python" "$here/requirements.txt"
python=$folder/python/bin/python
"$python" "$root/models/fetch.py" all-minilm-l6-v2 smollm2-135m \
  "$folder/models"
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
"$python" -m grpc_tools.protoc -I"$root/proto" --python_out="$stubs" \
  --grpc_python_out="$stubs" attend/v1/attend.proto

for program in "$folder"/python/lib/*/site-packages/perf_analyzer/bin/perf_analyzer; do
  if [ -x "$program" ]; then
    export ATTEND_PERF_ANALYZER="${ATTEND_PERF_ANALYZER-$program}"
  fi
done
export ATTEND_SERVER="$server" ATTEND_MODELS="$folder/models"
export PYTHONPATH="$stubs:$here:$here/.."
for module in tritonclient.grpc.service_pb2 \
    kserve.protocol.grpc.grpc_predict_v2_pb2; do
  "$python" "$here/wire_test.py" "$module"
done
for client in triton kserve perf_analyzer; do
  "$python" "$here/${client}_test.py"
done
"$python" "$here/../../docs/python_examples_test.py" tritonclient
