"""How a client reaches its servers: addresses, TLS, token."""

from __future__ import annotations

import json
import os
import socket
from typing import Any, Iterable, Mapping, Sequence

import grpc

from attend._affinity import HEADER, affinity_key
from attend._calls import Call
from attend._cancellation import Cancellation
from attend._hedge import Hedge
from attend._retry import Attempts, Retry
from attend._trace import trace_metadata

DEFAULT_ADDRESS = "localhost:50051"
YES, NO = ("1", "true", "on", "yes"), ("0", "false", "off", "no", "")
# Calls go to servers in turn, or to that of their header; to those only that
# say they are serving.
IN_TURN: dict[str, Any] = {"round_robin": {}}
BY_HEADER: dict[str, Any] = {"ring_hash_experimental": {
    "minRingSize": 1024, "requestHashHeader": HEADER}}
# A server that does not answer a ping is given up, and its calls are made
# again elsewhere. A server takes a ping in 10 s (--min-ping-interval). While
# gRPC's own ping (for the size of windows) waits for its answer, there are no
# others, so its limit counts.
KEEPALIVE = [
    ("grpc.keepalive_time_ms", 12000),
    ("grpc.keepalive_timeout_ms", 5000),
    ("grpc.http2.ping_timeout_ms", 5000),
    ("grpc.http2.max_pings_without_data", 0),  # no limit
]


class Settings:
    """What both kinds of clients are made from."""

    def __init__(self, target: str | Sequence[str] | None = None, *,
                 model: str = "", token: str | None = None,
                 tls: bool | str | None = None, ca: str | None = None,
                 cert: str | None = None, key: str | None = None,
                 server_name: str | None = None, timeout: float | None = 60,
                 retry: Retry = Retry(), health_checks: bool = True,
                 affinity: int = 0,
                 metadata: Iterable[tuple[str, str]] = (),
                 channel_options: Iterable[tuple[str, Any]] = ()) -> None:
        """
        target: HOST:PORT, or several of them in a list or with commas between.
            Of one, DNS may name several servers, and is asked again when one is
            lost; of several, DNS is asked once.
        model: of calls that do not say.
        token: sent as `authorization: Bearer TOKEN`.
        tls: use TLS; the next four imply it, unless it is False.
        ca, cert, key: files in PEM: the CAs that may have signed the server's
            certificate (default: gRPC's list); this client's own, and its key.
        server_name: in the server's certificate; default: the (first) host.
        timeout: seconds of a call that does not say; None: no limit.
        retry: Retry(max_attempts=1) retries nothing.
        health_checks: watch the health of each server; load_model() and what
            else changes a server does without. Not behind a proxy that
            balances calls: the health of one server would speak for all.
        affinity: calls go to one server, as long as it serves, if so many first
            bytes of their first input are alike: its cache has what they begin
            with. 0: calls go to servers in turn. Needs grpcio 1.70.
        metadata: sent with each call.
        channel_options: more options of gRPC's channel.

        Of target, tls, ca, cert, key, server_name and token that are None the
        variables ATTEND_ADDRESS, ATTEND_TLS and so on are read. OSError names a
        file that cannot be read, ValueError what is wrong or does not go
        together.
        """
        if target is None:
            target = _variable("address") or DEFAULT_ADDRESS
        addresses = target.split(",") if isinstance(target, str) else target
        server_name = server_name or _variable("server_name")
        files = [value or _variable(name) for name, value in
                 (("ca", ca), ("cert", cert), ("key", key))]
        self._credentials = None
        implied = tls is None and (any(files) or server_name)
        if implied or _as_bool(tls):
            self._credentials = _credentials(*files)
        self._target = _join(addresses)
        self._options = [
            ("grpc.service_config", _service_config(affinity)),
            ("grpc.inhibit_health_checking", int(not health_checks)),
            ("grpc.enable_retries", 0),  # _retry.py has them
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 5000),
            ("grpc.max_receive_message_length", -1),
            *KEEPALIVE,
            *_name(addresses, server_name),
            *channel_options,
        ]
        self._metadata = [*_authorization(token or _variable("token")),
                          *metadata]
        self._model, self._timeout, self._retry = model, timeout, retry
        self._affinity = affinity
        self._hedge = Hedge(retry.hedge_after)
        self._no_hedge = Hedge(None)
        self._open()

    def _open(self) -> None:
        """Opens the channel."""
        raise NotImplementedError

    def _options_for(self, service: str) -> list[tuple[str, Any]]:
        """Of the channel for a service. That of Admin, whose calls go to a server
        that does not serve, too: it may wait for its first model."""
        if service == "Attend":
            return self._options
        name = "grpc.inhibit_health_checking"
        return [*((key, value) for key, value in self._options if key != name),
                (name, 1)]

    def _of_model(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"model": self._model, **options}

    def _longer(self, options: Mapping[str, Any],
                seconds: float) -> dict[str, Any]:
        """With a timeout that begins after so many seconds."""
        timeout = options.get("timeout", self._timeout)
        return {**options,
                "timeout": None if timeout is None else timeout + seconds}

    def _attempts(self, call: Call[Any]) -> Attempts:
        return Attempts(self._retry, call.options.get("timeout", self._timeout))

    def _cancellation_of(self, call: Call[Any]) -> Cancellation | None:
        """Raises TypeError for what is none."""
        given = call.options.get("cancellation")
        if given is not None and not isinstance(given, Cancellation):
            raise TypeError(f"cancellation is {given!r}, must be an "
                            "attend.Cancellation")
        return given

    def _hedge_of(self, call: Call[Any]) -> Hedge:
        """What changes the server is not asked for twice."""
        return self._hedge if call.service == "Attend" else self._no_hedge

    def _metadata_of(self, call: Call[Any]) -> list[tuple[str, str]]:
        key = (affinity_key(call.request, self._affinity)
               if self._affinity else None)
        return [*self._metadata, *call.options.get("metadata", ()),
                *([(HEADER, key)] if key else ()),
                *trace_metadata(call.options.get("traceparent"))]


def _service_config(affinity: int) -> str:
    if affinity:
        # gRPC asks it when a channel is made (gRFC A76).
        os.environ["GRPC_EXPERIMENTAL_RING_HASH_SET_REQUEST_HASH_KEY"] = "true"
    return json.dumps({
        "loadBalancingConfig": [BY_HEADER if affinity else IN_TURN],
        "healthCheckConfig": {"serviceName": ""},
    })


def _variable(name: str) -> str | None:
    return os.environ.get(f"ATTEND_{name.upper()}")


def _as_bool(tls: bool | str | None) -> bool:
    text = (_variable("tls") or "") if tls is None else str(tls)
    if text.lower() not in YES + NO:
        raise ValueError(f"tls is '{text}', must be true or false")
    return text.lower() in YES


def _credentials(ca: str | None, cert: str | None,
                 key: str | None) -> grpc.ChannelCredentials:
    if bool(cert) != bool(key):
        raise ValueError("cert and key must be given together")
    return grpc.ssl_channel_credentials(
        _read_pem(ca, "CERTIFICATE"), _read_pem(key, "PRIVATE KEY"),
        _read_pem(cert, "CERTIFICATE"))


def _read_pem(path: str | None, what: str) -> bytes | None:
    """The bytes of a file that has such a thing; None if there is no path."""
    if not path:
        return None
    with open(path, "rb") as file:
        text = file.read()
    if f"{what}-----".encode() not in text:
        raise ValueError(f"{path}: has no {what.lower()} in PEM")
    return text


def _authorization(token: str | None) -> list[tuple[str, str]]:
    if not token:
        return []
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise ValueError("the token has a character that is not printable "
                         "ASCII, or a space")
    return [("authorization", f"Bearer {token}")]


def _name(addresses: Sequence[str],
          server_name: str | None) -> list[tuple[str, Any]]:
    """What servers are called that have another name than gRPC's target."""
    if server_name:
        return [("grpc.ssl_target_name_override", server_name)]
    if len(addresses) > 1:
        return [("grpc.default_authority", addresses[0].strip())]
    return []


def _join(addresses: Sequence[str]) -> str:
    """One target for gRPC. It takes several addresses only as numbers, and all
    of one kind."""
    if not addresses:
        raise ValueError("the list of addresses is empty")
    if len(addresses) == 1:
        return addresses[0].strip()
    parts = [_split(address) for address in addresses]
    found = [(number, port) for host, port in parts
             for number in _resolve(host)]
    if all(":" not in number for number, _ in found):
        return "ipv4:" + ",".join(f"{number}:{port}" for number, port in found)
    return "ipv6:" + ",".join(
        f"[{number}]:{port}" if ":" in number else f"[::ffff:{number}]:{port}"
        for number, port in found)


def _split(address: str) -> tuple[str, str]:
    """The host and port of HOST:PORT."""
    host, _, port = address.strip().rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"address '{address}' must be HOST:PORT")
    return host.strip("[]"), port


def _resolve(host: str) -> list[str]:
    """The numbers of a host: of IPv4, if it has some."""
    error = None
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            found = socket.getaddrinfo(host, None, family, socket.SOCK_STREAM)
            return [str(place[4][0]) for place in found]
        except OSError as failed:
            error = error or failed
    raise OSError(f"address '{host}': {error}")
