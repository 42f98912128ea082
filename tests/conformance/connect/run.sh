#!/bin/sh
# attend.v1 by the Connect protocol, by clients that others wrote.
#
#   tests/conformance/connect/run.sh ATTEND_SERVER FOLDER
#
# FOLDER keeps the packages. With ATTEND_WRITE_CONFORMANCE=1 the table in
# docs/connect.md is written, else compared.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the packages in}
export PYTHONPYCACHEPREFIX="$folder/bytecode"

"$here/../packages.sh" "$folder/connect" @bufbuild/protobuf@2.17.0 \
  @connectrpc/connect@2.0.4 @connectrpc/connect-node@2.0.4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
protoc -I"$root/proto" --include_imports -o "$work/attend.binpb" \
  attend/v1/attend.proto
# Packages are looked for beside the script that imports them.
cp "$here/client.mjs" "$folder/connect/client.mjs"

export ATTEND_SERVER="$server" ATTEND_DESCRIPTORS="$work/attend.binpb"
export ATTEND_CONNECT_CLIENT="$folder/connect/client.mjs"
export PYTHONPATH="$here/.."
python3 "$here/connect_test.py"
