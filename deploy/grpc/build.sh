#!/bin/sh
# Builds gRPC 1.56.2, which has those weaknesses of Debian's 1.51.1 mended that
# docs/security.md names, for the preset patched-grpc.
#
#   deploy/grpc/build.sh [PREFIX]      # default: build/grpc
#
# The source is that of the crate grpcio-sys, which holds all of gRPC: cargo gets
# it, from a mirror where one is configured, and Cargo.lock has its hash. Only
# what Attend links is built: static libraries, with the abseil, protobuf,
# OpenSSL, re2, c-ares and zlib of Debian that deploy/install_dependencies.sh
# --patched-grpc installs. JOBS compilers (default: one for each CPU) run at once.
# A build that was interrupted goes on, and one that is finished is not repeated.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lock=$here/Cargo.lock
prefix=${1:-$here/../../build/grpc}
mkdir -p "$prefix/.grpc_build"
prefix=$(cd "$prefix" && pwd)
build=$prefix/.grpc_build

# What the lock file says of the crate: its version or its checksum.
locked() {
  sed -n '/^name = "grpcio-sys"$/,/^checksum/s/^'"$1"' = "\(.*\)"$/\1/p' "$lock"
}
crate=grpcio-sys-$(locked version)

# Prints where cargo keeps the file that it got.
get_crate() {
  host=$(rustc -vV | sed -n 's/^host: //p')
  set -- --locked --manifest-path "$here/Cargo.toml"
  # With it some small crates come, which are not used.
  cargo fetch --quiet "$@" --target "$host"
  cargo metadata "$@" --offline --format-version 1 --filter-platform "$host" |
    sed -n 's:.*"manifest_path"\:"\([^"]*\)/src/\([^"]*/'"$crate"'\)/Cargo.toml".*:\1/cache/\2.crate:p'
}

unpack() {
  file=$(get_crate)
  [ -f "$file" ] || {
    echo "$0: cargo has no file $crate.crate: is its source a directory?" >&2
    exit 1
  }
  # cargo itself looks at the hash of what it downloads, not at what is there.
  hash=$(locked checksum)
  echo "$hash  $file" | sha256sum --check --status || {
    echo "$0: the SHA-256 of $file is not $hash (Cargo.lock)" >&2
    exit 1
  }
  rm -rf "$build/unpacking"
  mkdir "$build/unpacking"
  tar -xzf "$file" -C "$build/unpacking"
  mv "$build/unpacking/$crate" "$build"
}

configure() {
  # Debian's protobuf has no package for CMake, and two headers' old names.
  echo "include(FindProtobuf)" >"$build/protobuf-config.cmake"
  for header in csharp/csharp_names.h objectivec/objectivec_helpers.h; do
    new=$build/$crate/grpc/google/protobuf/compiler/${header%/*}/names.h
    mkdir -p "${new%/*}"
    echo "#include <google/protobuf/compiler/$header>" >"$new"
  done
  launcher=$(command -v ccache) || launcher=
  # Messages do not name this folder: libraries are equal wherever it is.
  flags="-D_FORTIFY_SOURCE=2 -fstack-protector-strong -ffile-prefix-map=$build/="
  cmake -S "$build/$crate/grpc" -B "$build/ninja" -G Ninja \
    --log-level=WARNING -Wno-dev -Wno-deprecated \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_C_FLAGS_RELEASE="-O2 -DNDEBUG" \
    -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
    -DCMAKE_C_COMPILER_LAUNCHER="$launcher" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
    -DProtobuf_DIR="$build" -DCMAKE_DISABLE_FIND_PACKAGE_systemd=ON \
    -DgRPC_INSTALL=OFF -DgRPC_BUILD_TESTS=OFF \
    -DgRPC_ABSL_PROVIDER=package -DgRPC_CARES_PROVIDER=package \
    -DgRPC_PROTOBUF_PROVIDER=package -DgRPC_RE2_PROVIDER=package \
    -DgRPC_SSL_PROVIDER=package -DgRPC_ZLIB_PROVIDER=package
}

# gRPC's own rules install all that it could build, which was not built.
install_built() {
  source=$build/$crate/grpc
  mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
  cp -R "$source/include/grpc" "$source/include/grpcpp" "$prefix/include"
  for name in grpc++ grpc gpr address_sorting upb; do
    install -m 644 "$build/ninja/lib$name.a" "$prefix/lib"
  done
  install -D -s "$build/ninja/grpc_cpp_plugin" "$prefix/bin/grpc_cpp_plugin"
  for name in grpc++ grpc gpr; do
    # Who links a static library links what that needs, named here: the flags
    # of re2's own file would be those of all our sources. The prefix may move.
    awk -v needs=" -lre2 -lcares -lz -lssl -lcrypto" '
      /^prefix=/ { print "prefix=${pcfiledir}/../.."; next }
      /^Requires\.private:/ { next }
      /^Libs:/ { libs = $0; next }
      /^Libs\.private:/ { sub(/^[^:]*:/, ""); $0 = libs $0 needs }
      { print }' "$build/ninja/libs/opt/pkgconfig/$name.pc" \
      >"$prefix/lib/pkgconfig/$name.pc"
  done
  # To be given on with programs that have gRPC inside.
  licenses=$prefix/share/doc/grpc
  install -D -m 644 -t "$licenses" "$source/LICENSE" "$source/NOTICE.txt"
  for part in address_sorting upb utf8_range xds xxhash; do
    install -m 644 "$source/third_party/$part/LICENSE" "$licenses/LICENSE.$part"
  done
}

PATH="$PATH:${HOME-}/.cargo/bin"
made_by=$(cat "$0" "$lock" | sha256sum)
if [ "$(cat "$prefix/made_by" 2>/dev/null)" != "$made_by" ]; then
  [ -d "$build/$crate" ] || unpack
  configure
  CCACHE_BASEDIR=$build cmake --build "$build/ninja" \
    --parallel "${JOBS:-$(nproc)}" \
    --target grpc++ grpc_cpp_plugin
  install_built
  echo "$made_by" >"$prefix/made_by"
fi
rm -rf "$build"
