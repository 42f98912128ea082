#!/bin/sh
# The programs of docs/api, from a real server, and models/fetch.py.
#
#   tests/docs/examples.sh ATTEND_SERVER FOLDER
#
# FOLDER keeps the packages, those of tests/conformance, too. With the variable
# ATTEND_ALL_EXAMPLES also those that take minutes to build, if their tools are
# there.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
conformance=$here/../conformance
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the packages in}

languages="curl python node"
for pair in go:go java:mvn rust:cargo; do
  if [ -n "${ATTEND_ALL_EXAMPLES-}" ] && command -v "${pair#*:}" >/dev/null; then
    languages="$languages ${pair%:*}"
  else
    echo "skipped: ${pair%:*}; ATTEND_ALL_EXAMPLES=1 runs it"
  fi
done
"$conformance/environment.sh" "$folder/python" \
  "$conformance/oip/requirements.txt"
mkdir -p "$folder/examples"

export ATTEND_SERVER="$server" ATTEND_EXAMPLES_FOLDER="$folder/examples"
export PATH="$folder/python/bin:$PATH" PYTHONPATH="$conformance"
python3 -B "$here/fetch_test.py"
# shellcheck disable=SC2086 # a list of words
python3 -B "$here/examples_test.py" $languages
