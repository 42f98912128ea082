#!/bin/sh
# Gets packages and the definition of the API, makes stubs, and calls every method.
# Needs protoc.
#
#   ATTEND_URL=http://localhost:8080 ATTEND_ADDRESS=localhost:50051 ./run.sh
set -eu
cd "$(dirname "$0")"
curl -s --create-dirs -o attend/v1/attend.proto \
  "${ATTEND_URL-http://localhost:8080}/attend/v1/attend.proto"
cargo run --quiet
