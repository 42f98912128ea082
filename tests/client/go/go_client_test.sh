#!/bin/sh
# Tests client/go by Go's own tools. Its packages come from Go's registry.
#
#   tests/client/go/go_client_test.sh
set -eu
cd "$(dirname "$0")/../../../client/go"
# An old Go says so; one that is not there, too.
if ! go list -m >/dev/null; then
  echo "skipped: needs go 1.23 or later"
  exit 77
fi
unformatted=$(gofmt -l . ../../tests/client/conformance/go)
if [ -n "$unformatted" ]; then
  echo "not as gofmt writes them: $unformatted"
  exit 1
fi
go vet ./...
go test ./...
