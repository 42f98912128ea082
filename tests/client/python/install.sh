#!/bin/sh
# Builds client/python as an sdist and a wheel, and installs it.
#
#   tests/client/python/install.sh FOLDER [clusters]
#
# FOLDER keeps two environments, made anew when what they need changes: `build`
# has an old protobuf, and `run` a new one. A third one, `clusters`, has Ray and
# Spark, too.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
environment=${1:?a folder for the environments}
clusters=${2-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 - "$root/client/python/pyproject.toml" >"$scratch/requirements.txt" <<END
import sys, tomllib
with open(sys.argv[1], "rb") as file:
    print(*tomllib.load(file)["build-system"]["requires"], "numpy>=1.26", sep="\n")
END
make=$root/tests/conformance/environment.sh
mkdir -p "$environment"
"$make" "$environment/build" "$scratch/requirements.txt"
"$make" "$environment/run" "$here/requirements.txt"
if [ -n "$clusters" ]; then
  "$make" "$environment/clusters" "$here/clusters.txt"
fi

mkdir "$scratch/client" "$scratch/dist"
cp -R "$root/client/python" "$scratch/client/python"
cp -R "$root/proto" "$scratch/proto"
cd "$scratch/client/python"
"$environment/build/bin/python" -W ignore -c \
  'import setuptools.build_meta as b; b.build_sdist("../../dist")' \
  >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
# The wheel is built of the sdist alone.
cd /
rm -r "$scratch/client" "$scratch/proto"
"$environment/build/bin/pip" wheel --quiet --disable-pip-version-check \
  --no-build-isolation --no-deps -w "$scratch/dist" "$scratch"/dist/*.tar.gz
for each in build run ${clusters:+clusters}; do
  "$environment/$each/bin/pip" install --quiet --disable-pip-version-check \
    --force-reinstall --no-deps "$scratch"/dist/*.whl
done
