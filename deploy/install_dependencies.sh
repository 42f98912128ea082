#!/bin/sh
# Installs what Attend is built with, from Debian (12 and 13).
#
#   deploy/install_dependencies.sh [--tests] [--clang] [--patched-grpc]
#
# --tests: also what the tests use. --clang: also the compiler of the builds
# with sanitizers and of tests/fuzz.
# --patched-grpc: what deploy/grpc/build.sh builds gRPC with, and not Debian's
# gRPC. Says nothing, and asks for no rights, where everything is installed.
set -eu

packages="
  ca-certificates ccache cmake g++ git ninja-build pkg-config
  libabsl-dev libboost-dev libcli11-dev libcurl4-openssl-dev libdnnl-dev
  libedit-dev libicu-dev libnghttp2-dev libmd4c-dev libprotobuf-dev libssl-dev
  libxxhash-dev
  nlohmann-json3-dev prometheus-cpp-dev protobuf-compiler python3 zlib1g-dev"
grpc="libgrpc++-dev protobuf-compiler-grpc"
tests=false
for option in "$@"; do
  case "$option" in
    --tests)
      tests=true
      packages="$packages
        chromium clang-format curl jq libbenchmark-dev libgmock-dev libgtest-dev mold
        openssl python3-venv python3-yaml shellcheck"
      ;;
    --clang) packages="$packages clang-19 clang-tidy-19 libclang-rt-19-dev llvm-19" ;;
    --patched-grpc) grpc="libc-ares-dev libprotoc-dev libre2-dev" ;;
    *)
      echo "usage: $0 [--tests] [--clang] [--patched-grpc]" >&2
      exit 2
      ;;
  esac
done
packages="$packages $grpc"
if $tests && ! { command -v node && command -v npm; } >/dev/null; then
  packages="$packages nodejs npm"
fi

# Cargo that can build the tokenizers: found where rustup puts it, too, and else
# the package. Debian 12 has a recent one under another name.
rust_needed=1.85
PATH="$PATH:${HOME-}/.cargo/bin"
rust_found=$(rustc --version 2>/dev/null | cut -d " " -f 2) || rust_found=
oldest=$(printf '%s\n' "$rust_needed" "${rust_found:-0}" | sort -V | head -n 1)
if ! command -v cargo >/dev/null || [ "$oldest" != "$rust_needed" ]; then
  case "$(cat /etc/debian_version)" in
    12*) packages="$packages cargo-web rustc-web" ;;
    *) packages="$packages cargo rustc" ;;
  esac
fi

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

updated=false
update_once() {
  if ! $updated; then
    as_root apt-get update -qq
    updated=true
  fi
}

missing=
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) ||
    status=absent
  [ "$status" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
  update_once
  # shellcheck disable=SC2086 # a list of words
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# Of the package prometheus only the programs are wanted: installing all of it
# would start a monitoring server on this machine, now and at each boot. Debian
# 13 has a package of its own for promtool.
if $tests && ! { command -v prometheus && command -v promtool; } >/dev/null; then
  update_once
  directory=$(mktemp -d)
  trap 'rm -rf "$directory"' EXIT
  chmod 755 "$directory"
  for package in prometheus promtool; do
    apt-cache show "$package" >/dev/null 2>&1 || continue
    (cd "$directory" && apt-get download -qq "$package" 2>/dev/null)
    dpkg-deb -x "$directory/$package"_*.deb "$directory/files"
  done
  as_root install -m 755 "$directory/files/usr/bin/prometheus" \
    "$directory/files/usr/bin/promtool" /usr/local/bin/
fi
