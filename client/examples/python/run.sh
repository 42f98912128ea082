#!/bin/sh
# Gets packages and the definition of the API, makes stubs, and calls every method.
#
#   ATTEND_URL=http://localhost:8080 ATTEND_ADDRESS=localhost:50051 ./run.sh
set -eu
cd "$(dirname "$0")"
pip install --quiet grpcio grpcio-tools
curl -s --create-dirs -o attend/v1/attend.proto \
  "${ATTEND_URL-http://localhost:8080}/attend/v1/attend.proto"
python3 -m grpc_tools.protoc -I. --python_out=. --grpc_python_out=. \
  attend/v1/attend.proto
python3 calls.py
