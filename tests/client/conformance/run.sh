#!/bin/sh
# Runs cases.json by the package of each language whose tools are there, and
# prints a table; see README.md.
#
#   tests/client/conformance/run.sh ATTEND_SERVER FOLDER PYTHON_FOLDER CPP_DRIVER
#
# FOLDER keeps what is built. PYTHON_FOLDER is that of ../python/install.sh, and
# CPP_DRIVER is a program of the build.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
server=${1:?the path of attend-server}
folder=${2:?a folder to keep builds in}
python=${3:?a folder of environments}
cpp=${4:?the path of conformance_driver}
mkdir -p "$folder"
"$here/../python/install.sh" "$python"
python=$python/run/bin/python

set -- "Python=$python -B $here/driver.py sync" \
  "Python asyncio=$python -B $here/driver.py asyncio" "C++=$cpp"
if go list -C "$here/go" -m >/dev/null 2>&1; then
  go build -C "$here/go" -o "$folder/go_driver" .
  set -- "$@" "Go=$folder/go_driver"
else
  echo "skipped: Go; needs go 1.23 or later"
fi
if command -v node >/dev/null && command -v npm >/dev/null; then
  "$here/../node/install.sh" "$folder/node"
  # Packages are looked for beside the script that imports them.
  cp "$here/driver.mjs" "$folder/node/app/driver.mjs"
  set -- "$@" "Node.js=node $folder/node/app/driver.mjs"
else
  echo "skipped: Node.js; needs node and npm"
fi
if command -v mvn >/dev/null && command -v javac >/dev/null; then
  "$here/../java/install.sh" "$folder/java"
  # Programs that end soon; more compilers would cost more than they bring.
  java="java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp $(cat "$folder/java/classpath") Driver"
  set -- "$@" "Java=$java blocking" "Java async=$java async"
else
  echo "skipped: Java; needs mvn and javac"
fi
PATH="$PATH:${HOME-}/.cargo/bin" # where rustup puts it
rust=$(rustc --version 2>/dev/null | cut -d. -f2)
if [ "${rust:-0}" -ge 88 ]; then
  "$here/../rust/install.sh" "$folder/rust"
  set -- "$@" "Rust=$folder/rust/target/debug/driver"
else
  echo "skipped: Rust; needs rustc 1.88 or later, and cargo"
fi
printf '%s\n' "$@" >"$folder/drivers"  # for tests/attack/replicas.py
export ATTEND_SERVER="$server" ATTEND_MODEL="$root/models/en-de"
export PYTHONPATH="$here/../python"
"$python" -B "$here/conformance_test.py" "$@"
