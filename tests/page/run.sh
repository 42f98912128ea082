#!/bin/sh
# The page, in a headless Chromium, from a real server with real models.
#
#   tests/page/run.sh ATTEND_SERVER FOLDER SCREENSHOTS
#
# FOLDER keeps packages and models, those of tests/conformance, too. Screenshots
# are written to SCREENSHOTS. Ends with code 77 where there is no Chromium.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
conformance=$here/../conformance
server=${1:?the path of attend-server}
folder=${2:?a folder to keep the packages in}
screenshots=${3:?a folder for screenshots}

if ! command -v chromium >/dev/null; then
  echo "skipped: no chromium"
  exit 77
fi
"$conformance/packages.sh" "$folder/page" playwright-core@1.65.1 axe-core@4.14.1
"$conformance/environment.sh" "$folder/openai" \
  "$conformance/openai/requirements.txt"
"$folder/openai/bin/python" "$here/../../models/fetch.py" all-minilm-l6-v2 \
  smollm2-135m "$folder/models"

mkdir -p "$screenshots"
# Packages are looked for beside the scripts that import them.
cp "$here"/*.mjs "$folder/page/"
export ATTEND_SERVER="$server" ATTEND_SCREENSHOTS="$screenshots"
export ATTEND_TRANSLATOR="$here/../../models/en-de"
export ATTEND_CHAT="$folder/models/smollm2-135m.gguf"
export ATTEND_ENCODER="$folder/models/all-minilm-l6-v2"
node --test "$folder/page/page_test.mjs"
