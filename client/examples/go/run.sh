#!/bin/sh
# Gets packages and the definition of the API, makes stubs, and calls every method.
# Needs protoc.
#
#   ATTEND_URL=http://localhost:8080 ATTEND_ADDRESS=localhost:50051 ./run.sh
set -eu
cd "$(dirname "$0")"
export GOBIN="$PWD/bin" PATH="$PWD/bin:$PATH"
go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.11
go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.1
curl -s --create-dirs -o attend/v1/attend.proto \
  "${ATTEND_URL-http://localhost:8080}/attend/v1/attend.proto"
package=Mattend/v1/attend.proto=example.org/calls/attend/v1
protoc -I. --go_out=. --go_opt=module=example.org/calls,"$package" \
  --go-grpc_out=. --go-grpc_opt=module=example.org/calls,"$package" \
  attend/v1/attend.proto
go mod tidy
go run .
