#!/bin/sh
# The cache of --hub and that of the package huggingface_hub: see hub_test.py.
#
#   tests/conformance/hub/run.sh ATTEND_SERVER FOLDER
#
# FOLDER keeps the environment.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the environment in}
export PYTHONPYCACHEPREFIX="$folder/bytecode"

"$here/../environment.sh" "$folder/hub" "$here/requirements.txt"
export ATTEND_SERVER="$server" PYTHONPATH="$here/.."
"$folder/hub/bin/python" "$here/hub_test.py"
