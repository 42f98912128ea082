#!/bin/sh
# Gets packages and the definition of the API, makes stubs, and calls every method.
# Needs Maven.
#
#   ATTEND_URL=http://localhost:8080 ATTEND_ADDRESS=localhost:50051 ./run.sh
set -eu
cd "$(dirname "$0")"
curl -s --create-dirs -o src/main/protobuf/attend/v1/attend.proto \
  "${ATTEND_URL-http://localhost:8080}/attend/v1/attend.proto"
mvn --quiet compile dependency:build-classpath -Dmdep.outputFile=classpath >&2
java -cp "target/classes:$(cat classpath)" Calls
