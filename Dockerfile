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
RUN --mount=type=secret,id=ca,target=/usr/local/share/ca-certificates/proxy.crt \
    deploy/install_dependencies.sh --patched-grpc
COPY deploy/grpc deploy/grpc
RUN --mount=type=cache,target=/root/.cache/ccache deploy/grpc/build.sh

FROM grpc AS build
COPY CMakeLists.txt CMakePresets.json LICENSE ./
COPY deploy/install.cmake deploy/attend-config.cmake.in deploy/unity_groups.py \
     deploy/
COPY proto proto
COPY engine engine
COPY command_line command_line
COPY server server
COPY client client
RUN --mount=type=cache,target=/root/.cache/ccache \
    cmake --preset patched-grpc -DATTEND_TESTS=OFF \
 && cmake --build --preset patched-grpc --target attend-server attend
COPY deploy/image deploy/image
COPY models models
ARG SOURCE_DATE_EPOCH=0
# The last lines fail here, not at the first start, if a library is missing.
RUN deploy/image/collect.py build/patched-grpc /image \
 && chroot /image /usr/bin/attend-server --version \
 && chroot /image /usr/bin/attend --help >/dev/null

FROM scratch
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Attend" \
      org.opencontainers.image.description="Serves transformer models on CPUs (x86-64), over gRPC and OpenAI's HTTP API" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=build /image /
# The server's default is models/en-de; a variable would stay beside
# ATTEND_MODELS_DIR.
WORKDIR /usr/share/attend
EXPOSE 50051 8080
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=5s --start-period=2m \
  CMD ["/usr/bin/attend-server", "--health-check"]
ENTRYPOINT ["/usr/bin/attend-server"]
