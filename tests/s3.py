"""A server that speaks S3 (moto) in a process of its own, and a proxy before it that counts, cuts and refuses."""

import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mmcc.storage import RemotePath, place
from mmcc.storage.copies import upload

_SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.disable()
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
ACCESS_KEY, SECRET = "AKIATEST", "a-secret/that+nobody=sees"


class Server:
    """One process; `kill` ends it. Its buckets last as long."""

    def __init__(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen([sys.executable, "-c", _SERVER], text=True, **pipes)
        self.port = int(self._process.stdout.readline().split()[-1])

    def bucket(self, port: int | None = None) -> RemotePath:
        """A new one, named with the port, since connections are kept for a name."""
        from pyarrow import fs

        name = f"bucket-{uuid.uuid4().hex[:12]}"
        system = fs.S3FileSystem(
            endpoint_override=f"127.0.0.1:{self.port}", scheme="http", region="us-east-1", allow_bucket_creation=True
        )
        system.create_dir(name)
        found = place(f"s3://{name}?endpoint_override=127.0.0.1:{port or self.port}&scheme=http")
        assert isinstance(found, RemotePath)
        return found

    def put(self, bucket: RemotePath, key: str, content: bytes = b"") -> None:
        """Also under keys that no path can name."""
        import boto3

        client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1")
        client.put_object(Bucket=bucket.object.split("/")[0], Key=key, Body=content)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


def upload_folder(folder: Path, target: RemotePath) -> RemotePath:
    """As `aws s3 cp --recursive` does it."""
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and each.name != ".lock"):
        upload(path, target.joinpath(*path.relative_to(folder).parts))
    return target


class Proxy:
    """Passes requests on to a port, or answers them itself."""

    def __init__(self, port: int) -> None:
        self._to, self.requests, self.received = port, list[str](), 0  # bytes that the client has received
        self.cut_after: int | None = None  # bytes of an answer, after which the connection ends
        self.answer: bytes | None = None  # instead of the server's
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def forget(self) -> None:
        self.requests, self.received = [], 0

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._to)) as server:
            asking = threading.Thread(target=self._requests, args=(client, server), daemon=True)
            asking.start()
            try:
                sent = 0
                while self.answer is None and (piece := server.recv(1 << 16)):
                    sent += len(piece)
                    if self.cut_after is not None and sent > self.cut_after:
                        client.shutdown(socket.SHUT_RDWR)  # the other thread still has it
                        return
                    self.received += len(piece)
                    client.sendall(piece)
                if self.answer is not None:
                    asking.join()  # closed before its request was read, the connection would be reset
            except OSError:
                return

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        try:
            while piece := client.recv(1 << 16):
                line = piece.split(b"\r\n", 1)[0].decode("latin-1")
                if line.endswith("HTTP/1.1"):
                    self.requests.append(line.removesuffix(" HTTP/1.1"))
                if self.answer is not None:
                    client.sendall(self.answer)
                    client.shutdown(socket.SHUT_RDWR)
                    server.shutdown(socket.SHUT_RDWR)
                    return
                server.sendall(piece)
        except OSError:
            return


@contextmanager
def proxy_to(server: Server) -> Iterator[Proxy]:
    proxy = Proxy(server.port)
    try:
        yield proxy
    finally:
        proxy.close()


@contextmanager
def running() -> Iterator[Server]:
    server = Server()
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def credentials() -> Iterator[None]:
    """In the environment, as people have them; without asking a cloud for others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
            patch.delenv(name, raising=False)
        yield
