"""How the scripts reach a server: address, TLS and token.

Options win over variables, as with the command `attend`. Whatever is said of
TLS means that it is wanted.
"""

import collections
import os

import grpc

# Each option: its name, the variable that has its default, and its help.
OPTIONS = (
    ("address", "ATTEND_ADDRESS", "HOST:PORT (default: localhost:50051)"),
    ("ca", "ATTEND_CA", "PEM file of the CAs that may have signed the "
     "server's certificate (default: gRPC's list)"),
    ("cert", "ATTEND_CERT", "PEM file of this client's certificate"),
    ("key", "ATTEND_KEY", "PEM file of this client's private key"),
    ("server_name", "ATTEND_SERVER_NAME", "name that the server's certificate "
     "must have (default: the host of the address)"),
    ("token", "ATTEND_TOKEN", "token to send, as 'authorization: Bearer "
     "TOKEN'; other users of this machine can see the option, but not the "
     "variable"),
)
YES, NO = ("1", "true", "on", "yes"), ("0", "false", "off", "no", "")


def add_arguments(parser):
    """Adds --address, --tls and the others to an argparse.ArgumentParser."""
    for name, variable, text in OPTIONS:
        parser.add_argument(f"--{name.replace('_', '-')}",
                            help=f"{text}; ${variable}")
    parser.add_argument("--tls", action="store_true", default=None,
                        help="use TLS; an option with a file, and "
                        "--server-name, imply it; $ATTEND_TLS")


def open_channel(address=None, *, tls=None, ca=None, cert=None, key=None,
                 server_name=None, token=None, options=()):
    """A grpc.Channel. An argument that is None gets the value of its variable.
    `tls` may be a text, as in the variable. OSError names a file that cannot be
    read; ValueError names options that do not go together."""
    given = dict(address=address, ca=ca, cert=cert, key=key,
                 server_name=server_name, token=token)
    for name, variable, _ in OPTIONS:
        if given[name] is None:
            given[name] = os.environ.get(variable)
    address = given["address"] or "localhost:50051"
    files = [given[name] for name in ("ca", "cert", "key")]
    options = list(options)
    if as_bool(tls) or any(files) or given["server_name"]:
        if given["server_name"]:
            options.append(("grpc.ssl_target_name_override",
                            given["server_name"]))
        channel = grpc.secure_channel(address, credentials(*files),
                                      options=options)
    else:
        channel = grpc.insecure_channel(address, options=options)
    if not given["token"]:
        return channel
    return grpc.intercept_channel(channel, WithToken(given["token"]))


def channel_of(arguments, **more):
    """The same with what argparse has read, or the end of the program."""
    given = {name: getattr(arguments, name) for name, _, _ in OPTIONS}
    try:
        return open_channel(tls=arguments.tls, **given, **more)
    except OSError as error:
        raise SystemExit(f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise SystemExit(str(error)) from None


def as_bool(tls):
    text = os.environ.get("ATTEND_TLS", "") if tls is None else str(tls)
    if text.lower() not in YES + NO:
        raise ValueError(f"tls is '{text}', must be true or false")
    return text.lower() in YES


def credentials(ca, cert, key):
    if bool(cert) != bool(key):
        raise ValueError("cert and key must be given together")
    ca, cert, key = (read_pem(*file) for file in (
        (ca, "CERTIFICATE"), (cert, "CERTIFICATE"), (key, "PRIVATE KEY")))
    return grpc.ssl_channel_credentials(ca, key, cert)


def read_pem(path, what):
    """The bytes of a file that has such a thing; None if there is no path."""
    if not path:
        return None
    with open(path, "rb") as file:
        text = file.read()
    if f"{what}-----".encode() not in text:
        raise ValueError(f"{path}: has no {what.lower()} in PEM")
    return text


class Details(
        collections.namedtuple("Details", "method timeout metadata credentials "
                               "wait_for_ready compression"),
        grpc.ClientCallDetails):
    """Of a call, with other metadata than those that it came with."""


class WithToken(grpc.UnaryUnaryClientInterceptor,
                grpc.UnaryStreamClientInterceptor):
    """Adds the token to each call."""

    def __init__(self, token):
        if not (token.isascii() and token.isprintable() and " " not in token):
            raise ValueError("the token has a character that is not printable "
                             "ASCII, or a space")
        self.header = ("authorization", f"Bearer {token}")

    def details(self, call):
        return Details(call.method, call.timeout,
                       [*(call.metadata or ()), self.header], call.credentials,
                       call.wait_for_ready, call.compression)

    def intercept_unary_unary(self, continuation, call, request):
        return continuation(self.details(call), request)

    def intercept_unary_stream(self, continuation, call, request):
        return continuation(self.details(call), request)
