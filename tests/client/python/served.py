"""A server for tests in Python, and the calls that wait for it."""

import os
import socket
import subprocess
import time
import unittest

import grpc
from attend.v1 import attend_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

TIMEOUT = 60


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(port, *flags):
    return subprocess.Popen([
        os.environ["ATTEND_SERVER"], "--host=127.0.0.1", f"--port={port}",
        "--http-host=127.0.0.1", "--http-port=0", "--dtype=f32", *flags])


class ServedTest(unittest.TestCase):
    """All tests of a class share a server of the directory `model`, in f32, with
    more models, {name: directory}, and flags."""

    model = None
    models = {}
    flags = ()

    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.address = f"127.0.0.1:{port}"
        cls.server = start(port, f"--model={cls.model}", *(
            f"--model={name}={folder}" for name, folder in cls.models.items()),
            *cls.flags)
        cls.channel = cls.open_channel()
        cls.stub = attend_pb2_grpc.AttendStub(cls.channel)
        cls.wait_until_serving()

    @classmethod
    def open_channel(cls):
        return grpc.insecure_channel(cls.address)

    @classmethod
    def wait_until_serving(cls):
        health = health_pb2_grpc.HealthStub(cls.channel)
        limit = time.monotonic() + TIMEOUT
        while time.monotonic() < limit:
            if cls.server.poll() is not None:
                raise RuntimeError(f"server ended: {cls.server.returncode}")
            try:
                answer = health.Check(health_pb2.HealthCheckRequest(),
                                      timeout=5, wait_for_ready=True)
                if answer.status == health_pb2.HealthCheckResponse.SERVING:
                    return
            except grpc.RpcError:
                pass
            time.sleep(0.05)
        raise RuntimeError("server is not ready")

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        cls.server.terminate()
        code = cls.server.wait(TIMEOUT)
        if code != 0:
            raise RuntimeError(f"server's exit code is {code} after SIGTERM")
