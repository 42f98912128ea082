#!/bin/sh
# Makes the messages and stubs of attend.v1, which are committed, since Go builds
# nothing when a module is fetched. Needs protoc. made_of.sha256 says what they
# are made of; tests/client/go/stubs_test.sh compares it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT

export GOBIN="$tools" PATH="$tools:$PATH"
go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.11
go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.1
package=attend.internal/attend/attendv1
mkdir "$tools/made"
protoc -I"$here/../../proto" attend/v1/attend.proto \
  --go_out="$tools/made" --go-grpc_out="$tools/made" \
  --go_opt="module=$package,Mattend/v1/attend.proto=$package" \
  --go-grpc_opt="module=$package,Mattend/v1/attend.proto=$package"
# Which protoc it was makes no difference.
for file in attend.pb.go attend_grpc.pb.go; do
  sed '/^\/\/ .*protoc  *v/d' "$tools/made/$file" >"$here/attendv1/$file"
done
cd "$here/../.."
sha256sum proto/attend/v1/attend.proto >"$here/attendv1/made_of.sha256"
