#!/bin/sh
# Takes the client of the checkout, and calls every method.
#
#   ATTEND_ADDRESS=localhost:50051 ./run.sh
set -eu
cd "$(dirname "$0")"
go mod edit -replace "attend.internal/attend=${ATTEND_GO_CLIENT-../../go}"
go mod tidy
go run .
