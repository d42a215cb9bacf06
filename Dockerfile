# The image of fencelock: one static program, no shell, no root. It writes to
# /data only, so that the rest can be read-only.
#
#   docker build -t fencelock .
#
# Both bases can be others: a mirror's, or one that holds more than the program.

ARG BUILD_IMAGE=golang:1.26
ARG BASE_IMAGE=scratch

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -ldflags=-s -o /out/fencelock ./cmd/fencelock && mkdir /out/data

FROM ${BASE_IMAGE}
COPY --from=build /out/fencelock /fencelock
# Numbers, since there is no /etc/passwd, and since Kubernetes' runAsNonRoot asks for one.
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
VOLUME /data
# A folder below the volume's root, which may hold a lost+found, and may be open to
# the volume's group.
ENV FENCELOCK_SERVER_DATA_DIR=/data/member
# Clients, members; health and metrics are at 2381, on loopback unless told otherwise.
EXPOSE 2379 2380
# Alive, not ready: Swarm restarts what is unhealthy, and no restart brings a
# majority back.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/fencelock", "health", "--live"]
ENTRYPOINT ["/fencelock"]
CMD ["server"]
