#!/bin/sh
# Calls a server as a Python user does: builds client/python as an sdist and a
# wheel, installs it, and runs its methods and its stubs, and the unmodified
# health and reflection clients; then as lm-evaluation-harness would. Last,
# whether the scripts start that people run by hand against a server.
#
#   tests/client/python/python_client_test.sh ATTEND_SERVER [MODEL_DIRECTORY]
#
# $ATTEND_PYTHON_ENV (default: build/python) keeps two environments, made anew
# when what they need changes: one builds, with an old protobuf, the other runs
# with a new one.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
server=${1:?the path of attend-server}
model=${2:-$root/models/en-de}
environment=${ATTEND_PYTHON_ENV:-$root/build/python}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 - "$root/client/python/pyproject.toml" >"$scratch/requirements.txt" <<END
import sys, tomllib
with open(sys.argv[1], "rb") as file:
    print(*tomllib.load(file)["build-system"]["requires"], "numpy>=1.26", sep="\n")
END
make=$root/tests/conformance/environment.sh
mkdir -p "$environment"
"$make" "$environment/build" "$scratch/requirements.txt" --without-models
"$make" "$environment/run" "$here/requirements.txt" --without-models

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
for each in build run; do
  "$environment/$each/bin/pip" install --quiet --disable-pip-version-check \
    --force-reinstall --no-deps "$scratch"/dist/*.whl
done

export ATTEND_SERVER="$server" ATTEND_MODEL="$model"
"$environment/build/bin/python" -B "$here/old_protobuf_test.py" -v
for test in python_client connection client retry lm_eval; do
  "$environment/run/bin/python" -B "$here/${test}_test.py" -v
done
for script in "$root"/tests/attack/*.py; do
  grep -q ArgumentParser "$script" || continue
  "$environment/run/bin/python" -B "$script" --help >/dev/null
done
