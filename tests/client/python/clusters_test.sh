#!/bin/sh
# Bulk jobs on real clusters: Ray with several nodes, of which one dies, and
# Spark. Not part of the tests of each commit: README.md says why.
#
#   tests/client/python/clusters_test.sh ATTEND_SERVER [MODEL_DIRECTORY]
#
# $ATTEND_PYTHON_ENV (default: build/python) keeps the environments.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
server=${1:?the path of attend-server}
model=${2:-$root/models/en-de}
environment=${ATTEND_PYTHON_ENV:-$root/build/python}
"$here/install.sh" "$environment" clusters

export ATTEND_SERVER="$server" ATTEND_MODEL="$model"
# Ray's and Spark's workers start Python on their own.
export PYTHONPATH="$here" PYSPARK_PYTHON="$environment/clusters/bin/python"
for test in ray spark; do
  "$environment/clusters/bin/python" -B "$here/${test}_test.py" -v
done
