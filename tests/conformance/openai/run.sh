#!/bin/sh
# The HTTP APIs, by the clients that others wrote: their packages from PyPI and
# npm, real models, a real server.
#
#   tests/conformance/openai/run.sh ATTEND_SERVER FOLDER
#
# FOLDER keeps the environments and the models. With ATTEND_WRITE_CONFORMANCE=1
# the table in docs/openai.md is written, else compared.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the environments in}
export PYTHONPYCACHEPREFIX="$folder/bytecode"

"$here/../environment.sh" "$folder/openai" "$here/requirements.txt"
"$folder/openai/bin/python" "$here/../../../models/fetch.py" all-minilm-l6-v2 \
  smollm2-135m "$folder/models"
"$here/../packages.sh" "$folder/node" openai@6.49.0
# Node finds packages beside the script.
cp "$here/node_clients.mjs" "$folder/node/"

export ATTEND_SERVER="$server" ATTEND_MODELS="$folder/models"
export ATTEND_NODE_SCRIPT="$folder/node/node_clients.mjs"
export PYTHONPATH="$here/.."
"$folder/openai/bin/python" "$here/openai_clients_test.py"
"$folder/openai/bin/python" "$here/../../docs/python_examples_test.py" openai
