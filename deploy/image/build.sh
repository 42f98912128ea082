#!/bin/bash
# Makes the image of the Dockerfile on Debian (12 and 13), x86-64, without
# Docker and as any user: an OCI archive, and beside it the list of its parts.
#
#   deploy/image/build.sh [ARCHIVE]       # default: build/attend-image.tar
#
# docker load -i ARCHIVE, podman load -i ARCHIVE and skopeo copy
# oci-archive:ARCHIVE take it. The steps are those of the Dockerfile; libraries
# are those of this Debian, and the first step installs what is missing.
# PRESET=release takes Debian's gRPC instead of the patched one.
# SOURCE_DATE_EPOCH: all times in the image (default: that of the last commit).
set -euo pipefail

archive=${1:+$(realpath -m -- "$1")}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
archive=${archive:-build/attend-image.tar}
preset=${PRESET:-patched-grpc}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

case "$preset" in
  release) deploy/install_dependencies.sh ;;
  patched-grpc)
    deploy/install_dependencies.sh --patched-grpc
    deploy/grpc/build.sh
    ;;
  *)
    echo "$0: PRESET is '$preset', must be patched-grpc or release" >&2
    exit 2
    ;;
esac
cmake --preset "$preset" -DATTEND_TESTS=OFF >/dev/null
cmake --build --preset "$preset" --target attend-server attend

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$(dirname "$archive")"
deploy/image/collect.py "build/$preset" "$scratch/image"
deploy/image/pack.py "$scratch/image" "$archive" "$(git rev-parse HEAD)"
