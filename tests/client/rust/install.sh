#!/bin/sh
# Builds client/rust by Cargo and runs its own tests; then the driver of
# ../conformance, as a user's program is built.
#
#   tests/client/rust/install.sh FOLDER
set -eu

root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=${1:?a folder to build in}
driver=tests/client/conformance/rust
# A copy in one workspace, so that packages are compiled once.
rm -rf "$folder/client" "$folder/proto" "$folder/tests"
mkdir -p "$folder/client" "$folder/$driver"
cp -R "$root/proto" "$folder/proto"
cp -R "$root/client/rust" "$folder/client/rust"
cp -R "$root/$driver/Cargo.toml" "$root/$driver/src" "$folder/$driver"
cat >"$folder/Cargo.toml" <<END
[workspace]
members = ["client/rust", "$driver"]
resolver = "2"
[profile.dev]
debug = false
incremental = false
[profile.dev.build-override]
debug = false
END
cd "$folder"
if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; fi
cargo test --quiet --features attend/opentelemetry --package attend --package driver
cargo build --quiet --features attend/opentelemetry --package attend --package driver
