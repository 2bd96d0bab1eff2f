"""A file over HTTP, whole or one range of it (RFC 9110, section 14). Several ranges at once are refused: a request for
thousands of them costs a server far more than whoever sends it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from email.utils import formatdate
from pathlib import Path
from typing import NamedTuple

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mmcc.app.failures import Failure

_LONGEST = 64  # letters of a Range header with one range
_CHUNK = 256 << 10  # bytes read and sent at a time


class Span(NamedTuple):
    """Bytes of a file; the last is included, as in the header."""

    first: int
    last: int


class Unsatisfiable(Exception):
    """A range that the file does not have, several ranges, or no range at all."""


def parse_range(header: str, size: int) -> Span | None:
    """The one range of a Range header; None for units other than bytes, which are to be ignored."""
    unit, equals, given = header[:_LONGEST].partition("=")
    if equals and unit.strip().lower() != "bytes":
        return None
    first, dash, last = (part.strip() for part in given.partition("-"))
    if len(header) > _LONGEST or not equals or not dash or not _whole(first) or not _whole(last) or not (first or last):
        raise Unsatisfiable
    if not first:  # the last so many
        if int(last) == 0 or size == 0:
            raise Unsatisfiable
        return Span(max(0, size - int(last)), size - 1)
    if int(first) >= size or (last and int(last) < int(first)):
        raise Unsatisfiable
    return Span(int(first), min(int(last), size - 1) if last else size - 1)


def _whole(text: str) -> bool:
    """Digits of a number that a file can be as long as, or nothing."""
    return not text or (text.isascii() and text.isdigit() and len(text) < 19)


class OpenedFile(NamedTuple):
    """A regular file, open for reading; whoever opens it closes it."""

    descriptor: int
    size: int
    etag: str
    modified: str

    @classmethod
    def of(cls, path: Path) -> OpenedFile:
        """OSError for anything but a regular file; a link in its place is not followed."""
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            os.close(descriptor)
            raise OSError("not a regular file")
        etag = f'"{found.st_size:x}-{found.st_mtime_ns:x}"'
        return cls(descriptor, found.st_size, etag, formatdate(found.st_mtime, usegmt=True))

    def starts_with(self, skip: int, starts: tuple[bytes, ...]) -> bool:
        """Whether one of some bytes follows its first ones."""
        return os.pread(self.descriptor, max(map(len, starts)), skip).startswith(starts)

    def close(self) -> None:
        os.close(self.descriptor)


class FileAnswer(Response):
    """The answer to a request for a file. Reading waits in a thread for the disk, never for the client."""

    def __init__(self, file: OpenedFile, request: Mapping[str, str], method: str, media_type: str) -> None:
        self._file, self._span, status = file, Span(0, file.size - 1), 200
        headers = {"accept-ranges": "bytes", "etag": file.etag, "last-modified": file.modified}
        headers |= {"cache-control": "private, no-cache"}
        try:
            asked = self._asked_range(request) if method == "GET" else None
        except Unsatisfiable:
            file.close()
            cause = "The file has no such range, or several were asked for at once."
            remedy = "Ask for one range at a time."
            raise Failure(416, "range", cause, remedy, Content_Range=f"bytes */{file.size}", ETag=file.etag) from None
        if _lists(request.get("if-none-match", ""), file.etag):
            status, self._span = 304, Span(0, -1)
        elif asked is not None:
            status, self._span = 206, asked
            headers["content-range"] = f"bytes {asked.first}-{asked.last}/{file.size}"
        if status != 304:
            headers["content-length"] = str(self._span.last - self._span.first + 1)
        self._sends_body = method == "GET" and status != 304
        super().__init__(None, status, None, media_type)
        del self.headers["content-length"]
        self.headers.update(headers)

    def _asked_range(self, request: Mapping[str, str]) -> Span | None:
        header, condition = request.get("range"), request.get("if-range")
        if header is None or (condition is not None and condition not in (self._file.etag, self._file.modified)):
            return None  # the file has changed since: all of it
        return parse_range(header, self._file.size)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if not self._sends_body or self._span.last < self._span.first:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch, receive, group.cancel_scope)
                await self._send_body(send)
                group.cancel_scope.cancel()
        finally:
            self._file.close()

    async def _send_body(self, send: Send) -> None:
        place, left = self._span.first, self._span.last - self._span.first + 1
        while left:
            chunk = await anyio.to_thread.run_sync(os.pread, self._file.descriptor, min(left, _CHUNK), place)
            if not chunk:
                raise OSError("the file became shorter while it was sent")  # ends the connection: the client sees it
            place, left = place + len(chunk), left - len(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": left > 0})

    @staticmethod
    async def _watch(receive: Receive, scope: anyio.CancelScope) -> None:
        """Stop reading for a client that has gone."""
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()


def _lists(header: str, etag: str) -> bool:
    """Whether an If-None-Match names a version."""
    if len(header) > 1000:
        return False
    return header.strip() == "*" or etag in {each.strip().removeprefix("W/") for each in header.split(",")}
