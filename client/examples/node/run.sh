#!/bin/sh
# Builds the client of the checkout, and calls every method.
#
#   ATTEND_ADDRESS=localhost:50051 ./run.sh
set -eu
cd "$(dirname "$0")"
client=${ATTEND_NODE_CLIENT-../../node}
npm ci --prefix "$client" --ignore-scripts --silent
npm run build --prefix "$client" --silent
npm install --silent "$client"
node calls.mjs
