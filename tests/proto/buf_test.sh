#!/bin/sh
# attend.v1 by buf: it has the form that generators of all languages expect, and
# it has kept what attend_v1.binpb has: attend.v1 as it was last promised.
#
#   tests/proto/buf_test.sh FOLDER
#
# FOLDER keeps buf, a package of npm. With ATTEND_WRITE_PROMISE=1, for a release,
# what is there now is promised. Exit code 77: buf is not to be had.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
proto=$here/../../proto
folder=${1:?a folder to keep buf in}
promised=$here/attend_v1.binpb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -n "${ATTEND_WRITE_PROMISE-}" ]; then
  protoc -I"$proto" --include_imports -o "$promised" attend/v1/attend.proto
fi
if ! "$here/../conformance/packages.sh" "$folder" @bufbuild/buf@1.75.0; then
  echo "skipped: no package of buf"
  exit 77
fi
# Of the definitions in a folder. Nothing is fetched or kept: all imports are
# there, or buf's own.
buf() {
  (cd "$1" && shift &&
    BUF_CACHE_DIR="$work/cache" "$folder/node_modules/.bin/buf" "$@")
}
keeps_promise() {
  buf "$1" breaking --against "$promised" --path attend/v1/attend.proto
}

buf "$proto" lint
keeps_promise "$proto"

# Each of these changes would be found.
count=0
while read -r change; do
  cp -r "$proto" "$work/changed"
  file=$work/changed/attend/v1/attend.proto
  sed "$change" "$proto/attend/v1/attend.proto" >"$file"
  if cmp -s "$file" "$proto/attend/v1/attend.proto"; then
    echo "changes nothing: $change"
    exit 1
  fi
  if keeps_promise "$work/changed" >/dev/null 2>&1; then
    echo "not found: $change"
    exit 1
  fi
  rm -r "$work/changed"
  count=$((count + 1))
done <<'CHANGES'
s/int32 max_new_tokens = /int64 max_new_tokens = /
s/rpc GetModel(/rpc ReadModel(/
s/SIDE_TARGET = 1/SIDE_TARGET = 2/
s/^message ScoreRequest {/message ScoresRequest {/; s/ScoreRequest)/ScoresRequest)/
CHANGES
[ "$count" -eq 4 ]
