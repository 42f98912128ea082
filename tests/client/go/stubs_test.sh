#!/bin/sh
# The committed messages and stubs of client/go are made of the API as it is.
set -eu
cd "$(dirname "$0")/../../.."
sha256sum --check --quiet client/go/attendv1/made_of.sha256 || {
  echo "client/go/generate.sh makes them anew; it needs go and protoc"
  exit 1
}
