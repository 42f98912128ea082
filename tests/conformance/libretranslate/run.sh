#!/bin/sh
# LibreTranslate's API, by the client that others wrote: its package from PyPI,
# a real server with the bundled model.
#
#   tests/conformance/libretranslate/run.sh ATTEND_SERVER FOLDER
#
# FOLDER keeps the environment. With ATTEND_WRITE_CONFORMANCE=1 the table in
# docs/documents.md is written, else compared.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the environment in}
export PYTHONPYCACHEPREFIX="$folder/bytecode"

"$here/../environment.sh" "$folder/libretranslate" "$here/requirements.txt"
export ATTEND_SERVER="$server" PYTHONPATH="$here/.."
"$folder/libretranslate/bin/python" "$here/libretranslate_test.py"
