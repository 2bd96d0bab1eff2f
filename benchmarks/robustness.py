"""Whether thousands of damaged videos, photos and captions ever crash, hang or silently lose something.

    python -m benchmarks.robustness [--videos 1000] [--photos 1000] [--captions 100000]

Small clips and photos are encoded in every usual format; then bytes are flipped, cut, repeated or spliced. Videos go
through `mmcc ingest`, each with damaged captions beside it; photos through the worker of the tools; captions alone
through their reader. Every file must end as read, partly decoded, or refused with a reason.
"""

import io
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from benchmarks.common import FFMPEG, Figure, Figures, command_line, finish, run
from benchmarks.reliability.samples import CAPTIONS, PHOTO_KINDS, VIDEO_KINDS, corrupt
from mmcc.errors import InputError
from mmcc.media.captions import parse_captions
from mmcc.media.photo_worker import read_fitted
from mmcc.media.utterances import to_utterances

PICTURE = "testsrc2=size=96x64:rate=10"
BATCH = 500  # videos of one ingest
SECONDS = 60  # that a video may take: damaged ones of 3 s take as long as sound ones
USUAL = (0, 3, 4)  # exit codes: done, nothing was readable, some was not
BUG = "internal error"


def encode_videos(folder: Path) -> dict[str, bytes]:
    videos = {}
    for suffix, options in VIDEO_KINDS.items():
        path = folder / f"whole{suffix}"
        source = ["-f", "lavfi", "-i", PICTURE, "-f", "lavfi", "-i", "sine"]
        run([FFMPEG, "-v", "error", "-y", *source, "-t", 3, "-pix_fmt", "yuv420p", *options, path])
        videos[suffix] = path.read_bytes()
    return videos


def fuzz_videos(folder: Path, count: int, rng: random.Random, figures: Figures) -> None:
    """In batches, each by a command of its own, as a user runs it."""
    originals = encode_videos(folder)
    captions = {name: text.encode() for name, text in CAPTIONS.items()}
    ends, outcomes, reasons = Counter[str](), Counter[str](), Counter[str]()
    start = time.perf_counter()
    for first in tqdm(range(0, count, BATCH), desc="damaged videos", disable=None, leave=False):
        source = folder / f"{first:06d}"
        source.mkdir()
        size = min(BATCH, count - first)
        for number in range(size):
            kind, said = rng.choice(list(originals)), rng.choice(list(captions))
            suffix = rng.choice(list(originals)) if rng.random() < 0.2 else kind  # a container with the wrong suffix
            damaged = corrupt(originals[kind], list(originals.values()), rng)
            (source / f"{number:06d}{suffix}").write_bytes(damaged)
            beside = source / f"{number:06d}{Path(said).suffix}"
            beside.write_bytes(corrupt(captions[said], list(captions.values()), rng))
        code, report = ingest(source, folder / f"{first:06d}.corpus", size)
        ends["usual" if code in USUAL else "hang" if code is None else f"exit {code}"] += 1
        failed = {Path(each["path"]).stem: each["reason"] for each in report["skipped"] if _is_video(each["path"])}
        outcomes["ingested"] += report["ingested"] - len(report["partial"])
        outcomes["partly decoded"] += len(report["partial"])
        outcomes["refused"] += len(failed)
        outcomes["captions refused"] += len(report["skipped"]) - len(failed)
        outcomes["lost"] += size - report["ingested"] - len(failed)
        for each in report["skipped"]:
            if BUG in each["reason"] or not each["reason"].strip():
                print(f"{each['path']}: {each['reason']}", flush=True)
        reasons.update(each["reason"].split(" (")[0].split(" at ")[0][:70] for each in report["skipped"])
    unexplained = reasons[""] + sum(times for reason, times in reasons.items() if BUG in reason)
    told = ", ".join(f"{times:,} {what}" for what, times in outcomes.items())
    print(f"{count:,} damaged videos with captions in {time.perf_counter() - start:.0f} s: {told}")
    for reason, times in reasons.most_common(12):
        print(f"  {times:>6,}  {reason}")
    figures.at_most(f"ingests of {count:,} damaged videos that crashed or hung", ends.total() - ends["usual"], 0)
    figures.at_most("damaged videos without an outcome", outcomes["lost"], 0)
    figures.at_most("damaged videos and captions that failed without a reason", unexplained, 0)


def ingest(source: Path, corpus: Path, videos: int) -> tuple[int | None, dict[str, Any]]:
    """The exit code, None for a hang, and what the command reported."""
    command = [sys.executable, "-m", "mmcc", "ingest", source, "-o", corpus, "--size", 32, "--time-limit", SECONDS]
    try:
        done = subprocess.run(
            [*map(str, command), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=600 + 5 * videos
        )
    except subprocess.TimeoutExpired:
        return None, {"skipped": [], "partial": [], "ingested": 0}
    return done.returncode, json.loads(done.stdout)


def _is_video(path: str) -> bool:
    return Path(path).suffix in VIDEO_KINDS


def encode_photos(folder: Path) -> dict[str, bytes]:
    from PIL import Image

    run([FFMPEG, "-v", "error", "-y", "-f", "lavfi", "-i", PICTURE, "-frames:v", 1, folder / "whole.png"])
    photos = {}
    for name, (mode, options) in PHOTO_KINDS.items():
        file = io.BytesIO()
        with Image.open(folder / "whole.png") as picture:
            picture.convert(mode).save(file, **options)
        photos[name] = file.getvalue()
    return photos


def fuzz_photos(folder: Path, count: int, rng: random.Random, figures: Figures) -> None:
    originals = encode_photos(folder)
    outcomes, reasons = Counter[str](), Counter[str]()
    unexplained = 0
    start = time.perf_counter()
    path = folder / "damaged"
    for _ in tqdm(range(count), desc="damaged photos", disable=None, leave=False):
        path.write_bytes(corrupt(rng.choice(list(originals.values())), list(originals.values()), rng))
        try:
            shape = read_fitted(path, 48, "crop").shape
        except InputError as error:
            outcomes["refused"] += 1
            reasons[error.cause.split(" (")[0][:70]] += 1
            unexplained += not error.cause or BUG in error.cause
        else:
            outcomes["read"] += 1
            unexplained += shape != (48, 48, 3)
    told = ", ".join(f"{times:,} {what}" for what, times in outcomes.items())
    print(f"{count:,} damaged photos in {time.perf_counter() - start:.0f} s: {told}")
    for reason, times in reasons.most_common(8):
        print(f"  {times:>6,}  {reason}")
    figures.at_most(f"of {count:,} damaged photos, refused without a reason or read wrongly", unexplained, 0)


def fuzz_captions(count: int, rng: random.Random, figures: Figures) -> None:
    originals = {name: text.encode() for name, text in CAPTIONS.items()}
    read = rejected = crashed = 0
    slowest = 0.0
    for _ in tqdm(range(count), desc="damaged captions", disable=None, leave=False):
        name = rng.choice(list(originals))
        content = corrupt(originals[name], list(originals.values()), rng)
        start = time.perf_counter()
        try:
            utterances = to_utterances(parse_captions(content, name))
        except InputError as error:
            rejected += 1
            crashed += not error.cause
        except Exception as error:
            crashed += 1
            print(f"{name}: {type(error).__name__}: {error}: {content!r}")
        else:
            read += 1
            starts = [utterance.start for utterance in utterances]
            crashed += starts != sorted(starts)
        slowest = max(slowest, time.perf_counter() - start)
    print(f"{count:,} damaged captions: {read:,} read, {rejected:,} rejected, the slowest in {slowest * 1000:.0f} ms")
    figures.at_most("damaged captions that crashed the reader or came out unordered", crashed, 0)


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, default=1_000)
    parser.add_argument("--photos", type=int, default=1_000)
    parser.add_argument("--captions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    figures = Figures()
    rng = random.Random(options.seed)
    with TemporaryDirectory() as folder:
        fuzz_videos(Path(folder), options.videos, rng, figures)
        fuzz_photos(Path(folder), options.photos, rng, figures)
    fuzz_captions(options.captions, rng, figures)
    return figures.measured


if __name__ == "__main__":
    finish(main())
