"""Whether thousands of corrupted videos and captions ever crash or hang the program.

    python -m benchmarks.robustness [--videos 1000] [--captions 100000]

Bytes are flipped, cut, repeated or spliced. Every video must end as ingested, partly decoded, or failed with a reason;
the parent process must neither crash nor hang.
"""

import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from benchmarks.common import FFMPEG, Figure, Figures, command_line, finish, run
from benchmarks.reliability.samples import CAPTIONS, VIDEO_KINDS, corrupt
from mmcc.corpus.find import find_source
from mmcc.corpus.ingest import IngestSettings, ingest
from mmcc.errors import InputError
from mmcc.media.captions import parse_captions
from mmcc.media.sandbox import Limits
from mmcc.media.utterances import to_utterances
from mmcc.media.video import Sampling
from mmcc.progress import file_progress


def fuzz_videos(folder: Path, count: int, rng: random.Random, figures: Figures) -> None:
    originals: dict[str, bytes] = {}
    for suffix, options in VIDEO_KINDS.items():
        path = folder / f"whole{suffix}"
        picture = ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10", "-f", "lavfi", "-i", "sine"]
        run([FFMPEG, "-v", "error", "-y", *picture, "-t", 3, "-pix_fmt", "yuv420p", *options, path])
        originals[suffix] = path.read_bytes()
    (folder / "videos").mkdir()
    for number in range(count):
        kind = rng.choice(list(originals))
        suffix = rng.choice(list(originals)) if rng.random() < 0.2 else kind  # a container with the wrong suffix
        content = corrupt(originals[kind], list(originals.values()), rng)
        (folder / "videos" / f"{number:05d}{suffix}").write_bytes(content)
    settings = IngestSettings(Sampling(size=32), workers=2, limits=Limits(seconds=60, stall_seconds=10))
    start = time.perf_counter()
    with file_progress("corrupted videos") as progress:
        report = ingest(find_source(folder / "videos"), folder / "corpus", settings, progress)
    seconds = time.perf_counter() - start
    unexplained = [path for path, reason in report.skipped if not reason.strip() or "internal error" in reason]
    reasons = Counter(reason.split(" (")[0][:70] for _, reason in report.skipped)
    print(f"{count:,} corrupted videos in {seconds:.0f} s: {report.ingested - len(report.partial):,} ingested, "
          f"{len(report.partial):,} partly decoded, {len(report.skipped):,} failed:")  # fmt: skip
    for reason, times in reasons.most_common(12):
        print(f"  {times:>6,}  {reason}")
    figures.at_most("corrupted videos without an outcome", count - report.ingested - len(report.skipped), 0)
    figures.at_most("corrupted videos that failed without a reason", len(unexplained), 0)


def fuzz_captions(count: int, rng: random.Random, figures: Figures) -> None:
    originals = {name: text.encode() for name, text in CAPTIONS.items()}
    read = rejected = crashed = 0
    slowest = 0.0
    for _ in tqdm(range(count), desc="corrupted captions", disable=None, leave=False):
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
    print(f"{count:,} corrupted captions: {read:,} read, {rejected:,} rejected, the slowest in {slowest * 1000:.0f} ms")
    figures.at_most("corrupted captions that crashed the reader or came out unordered", crashed, 0)


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, default=1_000)
    parser.add_argument("--captions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    figures = Figures()
    rng = random.Random(options.seed)
    with TemporaryDirectory() as folder:
        fuzz_videos(Path(folder), options.videos, rng, figures)
    fuzz_captions(options.captions, rng, figures)
    return figures.measured


if __name__ == "__main__":
    finish(main())
