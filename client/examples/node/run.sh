#!/bin/sh
# Gets packages and the definition of the API, and calls every method.
#
#   ATTEND_URL=http://localhost:8080 ATTEND_ADDRESS=localhost:50051 ./run.sh
set -eu
cd "$(dirname "$0")"
npm install --silent @grpc/grpc-js@1.14 @grpc/proto-loader@0.8
curl -s --create-dirs -o attend/v1/attend.proto \
  "${ATTEND_URL-http://localhost:8080}/attend/v1/attend.proto"
node calls.mjs
