# attend-server with the bundled model, and the client `attend` for a look from
# inside.
#
#   docker build -t attend:0.1.0 .
#   docker run --rm --read-only -p 50051:50051 -p 8080:8080 attend:0.1.0
#
# Every flag of attend-server has a variable (docker run attend:0.1.0 --help):
# -e ATTEND_KV_CACHE_BYTES=1GiB, or a file: -v FILE:/attend.toml:ro
# -e ATTEND_CONFIG=/attend.toml. Another model: -v DIRECTORY:/model:ro
# -e ATTEND_MODEL=/model. Several: -v DIRECTORY:/models:ro
# -e ATTEND_MODELS_DIR=/models. From Hugging Face's hub:
# -v VOLUME:/cache -e HF_HUB_CACHE=/cache -e ATTEND_HUB=OWNER/NAME. Nothing else
# is written to the file system.

# A gRPC without the weaknesses of Debian's: once, and again if deploy/grpc changes.
FROM debian:trixie-slim AS grpc
WORKDIR /src
COPY deploy/install_dependencies.sh deploy/
RUN deploy/install_dependencies.sh --patched-grpc
COPY deploy/grpc deploy/grpc
RUN deploy/grpc/build.sh

FROM grpc AS build
COPY CMakeLists.txt CMakePresets.json LICENSE ./
COPY deploy/install.cmake deploy/attend-config.cmake.in deploy/unity_groups.py \
     deploy/
COPY proto proto
COPY engine engine
COPY command_line command_line
COPY server server
COPY client client
RUN cmake --preset patched-grpc -DATTEND_TESTS=OFF \
 && cmake --build --preset patched-grpc --target attend-server attend
COPY deploy/http_get.sh deploy/
COPY models models
# What the image gets. Modes are set here: a checkout may have others.
RUN install -D -s -t /image/usr/bin \
      build/patched-grpc/server/attend-server build/patched-grpc/client/attend \
 && install -D -m 644 -t /image/usr/share/doc/grpc build/grpc/share/doc/grpc/* \
 && install -D deploy/http_get.sh /image/usr/lib/attend/http_get \
 && install -D -m 644 -t /image/usr/share/attend/models/en-de models/en-de/*

FROM debian:trixie-slim
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends \
      ca-certificates libabsl20240722 libcares2 libcurl4t64 libdnnl3.6 libedit2 libicu76 \
      libprometheus-cpp-core1.0 libprotobuf32t64 libre2-11 libssl3t64 zlib1g \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old \
      /var/log/apt /var/log/dpkg.log
COPY --from=build /image /
# Fails here, not at the first start, if a library is missing.
RUN attend-server --version && attend --help >/dev/null
# The server's default is models/en-de; a variable would stay beside
# ATTEND_MODELS_DIR.
WORKDIR /usr/share/attend
EXPOSE 50051 8080
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=5s --start-period=2m \
  CMD ["/bin/sh", "-c", "exec /usr/lib/attend/http_get ${ATTEND_HTTP_PORT:-8080} /readyz"]
ENTRYPOINT ["attend-server"]
