#!/bin/sh
# Builds client/java by Maven and runs its own tests; then the driver of
# ../conformance, as a user's program is built.
#
#   tests/client/java/install.sh FOLDER
#
# FOLDER/classpath is what the driver is run with.
set -eu

root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=${1:?a folder to build in}
mkdir -p "$folder/client/java"
# A copy, since what is built leaves files beside its sources.
rm -rf "$folder/client/java/src" "$folder/proto" "$folder/driver"
cp -R "$root/proto" "$folder/proto"
cp -R "$root/client/java/pom.xml" "$root/client/java/src" "$folder/client/java"
cd "$folder/client/java"
MAVEN_OPTS="${MAVEN_OPTS--XX:TieredStopAtLevel=1}" \
  mvn --quiet --batch-mode package dependency:build-classpath \
  -Dmdep.outputFile="$folder/packages" -Dmdep.includeScope=runtime
packages=$PWD/target/attend-client-0.1.0.jar:$(cat "$folder/packages")
javac -Xlint:all,-processing -d "$folder/driver" -cp "$packages" \
  "$root"/tests/client/conformance/java/*.java
echo "$folder/driver:$packages" >"$folder/classpath"
