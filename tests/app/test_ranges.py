"""One range of a file at a time: what headers mean, what is sent, and what is refused."""

import asyncio
import os
import re
import threading
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from mmcc.app.failures import Failure
from mmcc.app.ranges import FileAnswer, OpenedFile, Unsatisfiable, parse_range

CONTENT = bytes(range(256)) * 5


def by_definition(header, size):
    """RFC 9110, one case after the other: the bytes asked for, "refused", or "ignored"."""
    found = re.fullmatch(r"\s*([^=]*?)\s*=\s*(.*?)\s*", header, re.ASCII | re.DOTALL)
    if found and found[1].lower() != "bytes":
        return "ignored"
    spec = found and re.fullmatch(r"(\d*)\s*-\s*(\d*)", found[2], re.ASCII)
    if not spec or not (spec[1] or spec[2]):
        return "refused"
    every = range(size)
    if not spec[1]:
        wanted = every[-int(spec[2]) :] if int(spec[2]) else []
    elif spec[2] and int(spec[2]) < int(spec[1]):
        wanted = []
    else:
        wanted = every[int(spec[1]) : int(spec[2]) + 1 if spec[2] else None]
    return (wanted[0], wanted[-1]) if wanted else "refused"


numbers = st.one_of(st.just(""), st.integers(0, 3000).map(str))


@given(st.sampled_from(["bytes", "Bytes", "items"]), numbers, numbers, st.integers(0, 2000))
@example("bytes", "", "0", 10)
@example("bytes", "", "5", 0)
@example("bytes", "9", "9", 10)
@example("bytes", "10", "", 10)
def test_one_range_means_what_the_standard_says(unit, first, last, size):
    header = f"{unit}={first}-{last}"
    try:
        found = parse_range(header, size)
        result = "ignored" if found is None else tuple(found)
    except Unsatisfiable:
        result = "refused"
    assert result == by_definition(header, size)


@given(st.text(alphabet="bytes=-,0123456789 \t+x\u0663", max_size=80), st.integers(0, 1000))
@example("bytes=0-1,2-3", 100)
@example("bytes=" + ",".join(f"{n}-{n}" for n in range(10_000)), 100_000)
@example("bytes=" + "9" * 5000 + "-", 100)
@example("bytes=0-" + "9" * 40, 100)
@example("bytes=٣-٤", 100)
@example("bytes=1-2-3", 100)
@example("bytes=+1-2", 100)
def test_any_other_header_gives_a_range_within_the_file_or_is_refused(header, size):
    try:
        found = parse_range(header, size)
    except Unsatisfiable:
        return
    assert found is None or 0 <= found.first <= found.last < size


@pytest.mark.parametrize("header", ["bytes=0-1,2-3", "bytes=" + "0-0," * 9999 + "0-0", "bytes", "bytes=", "bytes=-"])
def test_several_ranges_and_nonsense_are_refused(header):
    with pytest.raises(Unsatisfiable):
        parse_range(header, 1000)


@pytest.fixture
def served(tmp_path):
    """A file over HTTP."""
    path = tmp_path / "film.mp4"
    path.write_bytes(CONTENT)

    async def answer(request):
        try:
            return FileAnswer(OpenedFile.of(path), request.headers, request.method, "video/mp4")
        except Failure as failure:
            from starlette.responses import Response

            return Response(failure.cause, failure.status, failure.headers)

    return TestClient(Starlette(routes=[Route("/", answer, methods=["GET", "HEAD"])]))


def test_the_whole_file_and_its_head(served):
    found = served.get("/")
    assert found.status_code == 200 and found.content == CONTENT
    assert found.headers["accept-ranges"] == "bytes" and found.headers["content-length"] == str(len(CONTENT))
    head = served.head("/", headers={"range": "bytes=0-9"})
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(CONTENT)))


@given(first=st.integers(0, len(CONTENT) - 1), length=st.integers(1, 2000))
def test_a_range_has_its_bytes(tmp_path_factory, first, length):
    path = tmp_path_factory.getbasetemp() / "ranged.mp4"
    path.write_bytes(CONTENT)
    sent = []

    async def receive():
        await asyncio.sleep(3600)

    async def send(message):
        sent.append(message)

    header = {"range": f"bytes={first}-{first + length - 1}"}
    asyncio.run(FileAnswer(OpenedFile.of(path), header, "GET", "video/mp4")({}, receive, send))
    assert sent[0]["status"] == 206 and not sent[-1]["more_body"]
    assert b"".join(message["body"] for message in sent[1:]) == CONTENT[first : first + length]
    headers = dict(sent[0]["headers"])
    last = min(first + length, len(CONTENT)) - 1
    assert headers[b"content-range"] == f"bytes {first}-{last}/{len(CONTENT)}".encode()


def test_refused_ranges_say_how_long_the_file_is(served):
    for header in ("bytes=5000-", "bytes=0-1,4-5", "bytes=9-3"):
        found = served.get("/", headers={"range": header})
        assert found.status_code == 416 and found.headers["content-range"] == f"bytes */{len(CONTENT)}"


def test_conditions(served):
    whole = served.get("/")
    etag, modified = whole.headers["etag"], whole.headers["last-modified"]
    ranged = {"range": "bytes=1-2"}
    for condition in (etag, modified):
        assert served.get("/", headers={**ranged, "if-range": condition}).content == CONTENT[1:3]
    for condition in ('"other"', f"W/{etag}", "Thu, 01 Jan 1970 00:00:00 GMT"):
        found = served.get("/", headers={**ranged, "if-range": condition})
        assert (found.status_code, found.content) == (200, CONTENT)
    for condition in (etag, f'"a", W/{etag}', "*"):
        found = served.get("/", headers={"if-none-match": condition})
        assert (found.status_code, found.content) == (304, b"")


def test_only_regular_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for name in ("pipe", "link", ".", "nothing"):
        with pytest.raises(OSError):
            OpenedFile.of(tmp_path / name)


def test_a_client_that_leaves_or_is_slow_holds_no_thread_and_no_file(tmp_path):
    """Forty slow clients of a large file: reading stops when they leave."""
    path = tmp_path / "large.mp4"
    with path.open("wb") as file:
        file.truncate(1 << 30)

    def opened():
        return len(list(Path("/proc/self/fd").iterdir()))

    before = opened(), threading.active_count()

    async def ask():
        left, full, sent = asyncio.Event(), asyncio.Event(), []

        async def receive():
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(len(message.get("body", b"")))
            if len(sent) > 3:
                full.set()
                await asyncio.sleep(3600)

        task = asyncio.ensure_future(FileAnswer(OpenedFile.of(path), {}, "GET", "video/mp4")({}, receive, send))
        await full.wait()  # it takes no more
        busy = threading.active_count()
        left.set()
        await task
        return sum(sent), busy

    async def many():
        return await asyncio.gather(*(ask() for _ in range(40)))

    found = asyncio.run(many())
    assert all(total < 10 << 20 for total, _ in found)
    assert max(busy for _, busy in found) <= before[1] + 41  # anyio's pool, which waits for disks only
    assert opened() <= before[0] + 1
