#!/bin/bash
# Prints what http://127.0.0.1:PORT/PATH answers; fails unless that is a 200.
# Needs nothing but bash.
#
#   deploy/http_get.sh PORT PATH
set -euo pipefail

if [ $# -ne 2 ]; then
  echo "usage: $0 PORT PATH" >&2
  exit 2
fi

exec 3<>"/dev/tcp/127.0.0.1/$1"
printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$2" >&3
read -r -t 10 _ code _ <&3
while read -r -t 10 header <&3 && [ "$header" != $'\r' ]; do :; done
cat <&3
[ "$code" = 200 ]
