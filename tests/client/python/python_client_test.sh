#!/bin/sh
# Calls a server as a Python user does: a virtual environment with grpcio from
# PyPI, stubs made by grpc_tools.protoc, the unmodified health and reflection
# clients; then as lm-evaluation-harness would. Last, whether the scripts start
# that people run by hand against a server.
#
#   tests/client/python/python_client_test.sh ATTEND_SERVER [MODEL_DIRECTORY]
#
# The environment is kept in $ATTEND_PYTHON_ENV (default: build/python), and
# made anew when client/python/requirements.txt changes.
set -eu

root=$(cd "$(dirname "$0")/../../.." && pwd)
server=${1:?the path of attend-server}
model=${2:-$root/models/en-de}
environment=${ATTEND_PYTHON_ENV:-$root/build/python}
requirements=$root/client/python/requirements.txt

if ! cmp -s "$requirements" "$environment/requirements.txt"; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check \
    -r "$requirements"
  cp "$requirements" "$environment/requirements.txt"
fi

stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
"$environment/bin/python" -m grpc_tools.protoc -I"$root/proto" \
  --python_out="$stubs" --grpc_python_out="$stubs" attend/v1/attend.proto

export ATTEND_SERVER="$server" ATTEND_MODEL="$model"
export ATTEND_TRANSLATE="$root/client/python/translate.py"
export ATTEND_EMBED="$root/client/python/embed.py"
export PYTHONPATH="$stubs:$root/client/python"
"$environment/bin/python" -B "$root/tests/client/python/python_client_test.py" -v
"$environment/bin/python" -B "$root/tests/client/python/attend_channel_test.py" -v
"$environment/bin/python" -B "$root/tests/client/python/lm_eval_attend_test.py" -v
for script in "$root"/tests/attack/*.py; do
  grep -q ArgumentParser "$script" || continue
  "$environment/bin/python" -B "$script" --help >/dev/null
done
