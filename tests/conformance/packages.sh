#!/bin/sh
# Makes a folder with packages of npm, unless it is there.
#
#   tests/conformance/packages.sh FOLDER NAME@VERSION...
set -eu

folder=${1:?a folder for the packages}
shift

if [ "$(cat "$folder/wanted" 2>/dev/null)" = "$*" ]; then
  exit 0
fi
rm -rf "$folder"
mkdir -p "$folder"
npm install --prefix "$folder" --no-package-lock --ignore-scripts --no-audit \
  --no-fund --silent "$@"
echo "$*" >"$folder/wanted"
