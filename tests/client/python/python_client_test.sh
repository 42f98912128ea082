#!/bin/sh
# Calls a server as a Python user does: installs client/python, and runs its
# methods and its stubs, and the unmodified health and reflection clients; then
# as lm-evaluation-harness and bulk jobs would; and the examples of the pages. Last, whether the scripts start that people run
# by hand against a server.
#
#   tests/client/python/python_client_test.sh ATTEND_SERVER [MODEL_DIRECTORY]
#
# $ATTEND_PYTHON_ENV (default: build/python) keeps the environments.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
server=${1:?the path of attend-server}
model=${2:-$root/models/en-de}
environment=${ATTEND_PYTHON_ENV:-$root/build/python}
"$here/install.sh" "$environment"

export ATTEND_SERVER="$server" ATTEND_MODEL="$model"
"$environment/build/bin/python" -B "$here/old_protobuf_test.py" -v
for test in python_client connection client retry balance lm_eval rows parts \
    local_server; do
  "$environment/run/bin/python" -B "$here/${test}_test.py" -v
done
"$environment/run/bin/python" -B "$root/tests/docs/python_examples_test.py" \
  attend -v
for script in "$root"/tests/attack/*.py; do
  grep -q ArgumentParser "$script" || continue
  "$environment/run/bin/python" -B "$script" --help >/dev/null
done
