#!/usr/bin/env python3
"""What the proxies of deploy/proxies let through.

    proxied.py --server build/release/server/attend-server [--balancer nginx]

Needs what replicas.py needs. Three servers with short queues, and each proxy
before them in turn. It passes (exit code 0) if, through each of them,

* calls of one connection go to all servers, to none less than a tenth of them,
* a stream comes in parts, as it is computed,
* the server has the call's deadline, and learns that a call is cancelled,
* a refusal says when to come again, in grpc-retry-pushback-ms and RetryInfo.
"""

import argparse
import concurrent.futures
import sys
import time

from replica_set import PROXIES, proxied, replica_set

LONG = {"num_beams": 1, "min_new_tokens": 400, "max_new_tokens": 400}
TEXT = "Two dogs are running through the snow."


def count(replicas, method, code="OK"):
    """Calls of the method that ended so, of each server."""
    name = (f'attend_requests_total{{code="{code}",method="{method}",'
            'model="en-de"}')
    return [replica.metrics().get(name, 0) for replica in replicas]


def balanced(client, replicas):
    before = count(replicas, "Embed")
    for _ in range(60):
        client.embed(TEXT)
    parts = [after - one for after, one in
             zip(count(replicas, "Embed"), before)]
    return f"calls of each server: {parts}", sum(parts) == 60 <= 10 * min(parts)


def streamed(client, replicas):
    begin = time.monotonic()
    moments = [time.monotonic() - begin
               for _ in client.stream(TEXT, **LONG)]
    return (f"{len(moments)} parts, after {moments[0] * 1000:.0f} to "
            f"{moments[-1] * 1000:.0f} ms",
            len(moments) > 10 and moments[0] < moments[-1] / 2)


def ends(replicas, method, code, call):
    """Whether the call makes one more of those within 5 s."""
    before = sum(count(replicas, method, code))
    call()
    limit = time.monotonic() + 5
    while time.monotonic() < limit:
        if sum(count(replicas, method, code)) == before + 1:
            return "seen", True
        time.sleep(0.1)
    return "not seen", False


def deadline(client, replicas):
    import attend

    def call():
        try:
            client.generate([TEXT] * 64, **LONG, timeout=0.3)
        except attend.errors.DeadlineExceeded:
            pass

    return ends(replicas, "Generate", "DEADLINE_EXCEEDED", call)


def cancelled(client, replicas):
    def call():
        parts = client.stream(TEXT, **LONG)
        next(parts)
        parts.close()

    return ends(replicas, "GenerateStream", "CANCELLED", call)


def refused(client, replicas):
    """More than the queues hold: by the trailers of what is refused."""
    import grpc
    from attend.v1 import attend_pb2 as pb
    request = pb.GenerateRequest(inputs=[pb.Input(text=TEXT)] * 8,
                                 params=pb.GenerationParams(**LONG))
    found = set()

    def call(_):
        with grpc.insecure_channel(client.address) as channel:
            try:
                channel.unary_unary("/attend.v1.Attend/Generate")(
                    request.SerializeToString(), timeout=20)
            except grpc.RpcError as error:
                found.add((error.code().name, *sorted(
                    key for key, _ in error.trailing_metadata() or ()
                    if key.startswith("grpc-"))))

    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        list(pool.map(call, range(40)))
    return f"refusals: {found}", found == {
        ("RESOURCE_EXHAUSTED", "grpc-retry-pushback-ms",
         "grpc-status-details-bin")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--balancer", action="append", choices=[*PROXIES],
                        help="default: all")
    parser.add_argument("--envoy", default="envoy", help="the program")
    options = parser.parse_args()
    import attend
    failed = 0
    with replica_set(options.server, ["--max-queued-requests=16",
                                      "--max-running=4"]) as replicas:
        for name in options.balancer or PROXIES:
            program = options.envoy if name == "envoy" else name
            with proxied(name, program, replicas) as [target], attend.Client(
                    target, retry=attend.Retry(max_attempts=1)) as client:
                client.address = target
                for check in (balanced, streamed, deadline, cancelled, refused):
                    seen, passed = check(client, replicas)
                    print("pass" if passed else "FAIL", name, check.__name__,
                          seen, flush=True)
                    failed += not passed
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
