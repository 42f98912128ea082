#!/bin/sh
# Builds client/node by npm, runs its own tests, and installs it in FOLDER/app as
# its users do, with types that TypeScript checks.
#
#   tests/client/node/install.sh FOLDER
set -eu

root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=${1:?a folder to build in}
mkdir -p "$folder"
# A copy, since what is built leaves files beside its sources.
rm -rf "$folder/client" "$folder/proto" "$folder/app"
mkdir -p "$folder/client/node" "$folder/app"
cp -R "$root/proto" "$folder/proto"
cd "$root/client/node"
cp -R package.json package-lock.json tsconfig.json build.mjs README.md src test \
  "$folder/client/node"
cd "$folder/client/node"
npm ci --ignore-scripts --no-audit --no-fund --silent
npm run build --silent
npm test --silent
npm pack --silent --pack-destination "$folder/app" >/dev/null
cd "$folder/app"
npm install --prefer-offline --no-package-lock --ignore-scripts --no-audit --no-fund \
  --silent --prefix . ./*.tgz
cp "$folder/client/node/test/types.ts" .
"$folder/client/node/node_modules/.bin/tsc" --noEmit --strict --target ES2022 \
  --module NodeNext --types node --typeRoots node_modules/@types types.ts
