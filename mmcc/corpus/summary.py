"""What a corpus contains: figures, and their display as text."""

from __future__ import annotations

import re
import statistics
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from mmcc.corpus.corpus import Corpus, Video
from mmcc.corpus.embeddings import stored_encoders
from mmcc.corpus.figures import COLUMNS, VideoFigures, figures_of
from mmcc.corpus.outcome import IngestReport, shortfall
from mmcc.corpus.source import Task
from mmcc.text import one_line

_LAG_WINDOW = 30.0  # seconds around a step's start in which narration may refer to it
_LIST_AT_MOST = 10  # lines of one kind shown as text; --json has all
_WORD = re.compile(r"[a-z]{3,}")
_SAYS_NOTHING = frozenset(
    "the and with into onto from for off out over under that this its then them put add get take make use top".split()
)


@dataclass
class Summary:
    """Counts, coverage, and what is missing."""

    path: str
    encoding: str
    fps: float
    size: int
    mode: str
    complete: bool  # False: an ingest was stopped, or is running
    videos: int = 0
    frames: int = 0
    utterances: int = 0
    words: int = 0
    hours: float = 0.0
    median_seconds: float = 0.0
    shortest_seconds: float = 0.0
    longest_seconds: float = 0.0
    words_per_minute: float = 0.0  # of the videos that have captions
    decoded_coverage: float = 0.0  # decoded / expected seconds
    speech_coverage: float = 0.0  # share of captioned videos' time with speech
    step_coverage: float = 0.0  # share of annotated videos' time that shows a step
    caption_lag: float | None = None  # median seconds from a step's start to the utterance that names it
    caption_lag_pairs: int = 0
    splits: dict[str, int] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    caption_kinds: dict[str, int] = field(default_factory=dict)
    tasks: dict[str, TaskCount] = field(default_factory=dict)
    annotated: int = 0
    segments: int = 0  # labelled clips; the name is part of the JSON output
    absent: int = 0
    uncaptioned: list[str] = field(default_factory=list)
    partial: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)
    lost: list[dict[str, str]] = field(default_factory=list)  # videos whose frames are no longer on disk
    embeddings: list[str] = field(default_factory=list)  # the encoders whose vectors are stored, by name


class TaskCount(NamedTuple):
    title: str
    steps: int
    here: int
    listed: int
    segments: int


def summarize(corpus: Corpus, watch: Callable[[list[str]], Iterable[str]] = iter) -> Summary:
    """Go through a corpus once; `watch` may show progress."""
    manifest = corpus.manifest
    summary = Summary(
        str(corpus.path), manifest.encoding, manifest.fps, manifest.size, manifest.mode, manifest.complete
    )
    summary.embeddings = [encoder.name for encoder in stored_encoders(corpus)]
    ids = corpus.rows()
    seen = iter(watch(ids))
    found: list[VideoFigures] = []
    for numbers, batch in corpus.scan(ids, *COLUMNS):
        found += figures_of(numbers, batch)
        deque(islice(seen, len(numbers)), maxlen=0)
    found.sort(key=lambda row: row.number)  # the order of sums, and of what is listed
    here, listed, clips = Counter[str](), Counter[str](), Counter[str]()
    for row in found:
        _note_troubles(summary, row)
        tasks = row.details["tasks"] or []
        listed.update(tasks)
        summary.segments += row.steps
        summary.annotated += bool(row.steps)
        clips.update(tasks[:1] * row.steps)
        here.update(tasks if row.readable else [])
    _add_up(summary, [row for row in found if row.readable])
    lags = [lag for row in found if row.readable and row.steps for lag in _lags(corpus[ids[row.number]], corpus.tasks)]
    summary.caption_lag, summary.caption_lag_pairs = (statistics.median(lags) if lags else None), len(lags)
    summary.tasks = {
        key: TaskCount(task.title, len(task.steps), here[key], listed[key], clips[key])
        for key, task in corpus.tasks.items()
    }
    summary.failed += manifest.skipped
    summary.lost = [{"path": corpus[key].details["source"] or key, "reason": why} for key, why in corpus.lost().items()]
    return summary


def _add_up(summary: Summary, readable: list[VideoFigures]) -> None:
    """The figures of the videos that have frames or utterances."""
    durations = [row.seconds for row in readable]
    summary.videos, summary.frames = len(readable), sum(row.frames for row in readable)
    summary.utterances, summary.words = sum(row.utterances for row in readable), sum(row.words for row in readable)
    if durations:
        summary.hours = sum(durations) / 3600
        summary.median_seconds = statistics.median(durations)
        summary.shortest_seconds, summary.longest_seconds = min(durations), max(durations)
    captioned = sum((row.seconds for row in readable if row.utterances), 0.0)
    annotated = sum((row.seconds for row in readable if row.steps), 0.0)
    decoded, expected = (sum((row.details[name] or 0.0 for row in readable), 0.0) for name in ("decoded", "duration"))
    summary.words_per_minute = summary.words / (captioned / 60) if captioned else 0.0
    summary.decoded_coverage = min(1.0, decoded / expected) if expected else 0.0
    summary.speech_coverage = sum(row.spoken for row in readable) / captioned if captioned else 0.0
    summary.step_coverage = sum(row.shown for row in readable) / annotated if annotated else 0.0


def _note_troubles(summary: Summary, row: VideoFigures) -> None:
    """Record what is missing from a video and, if it is readable, its split, mode and kind of captions."""
    details = row.details
    name = details["source"] or details["captions"] or details["id"]
    if details["status"] == "absent":
        summary.absent += 1
        return
    if details["status"] == "failed":
        summary.failed.append({"path": name, "reason": details["reason"]})
        return
    if details["caption_error"]:
        summary.failed.append({"path": details["captions"] or name, "reason": details["caption_error"]})
    if details["status"] == "partial":
        summary.partial.append(shortfall(name, details))
    if not row.utterances:
        summary.uncaptioned.append(name)
    kinds = ((summary.splits, "split"), (summary.modes, "mode"), (summary.caption_kinds, "caption_kind"))
    for counts, key in kinds:
        if details[key]:
            counts[details[key]] = counts.get(details[key], 0) + 1


def _lags(video: Video, tasks: dict[str, Task]) -> list[float]:
    """For each step that the narration names nearby: seconds from its start to that of the nearest such utterance."""
    names = tasks[video.tasks[0]].steps if video.tasks and video.tasks[0] in tasks else ()
    said = [(utterance.start, set(_WORD.findall(utterance.text.lower()))) for utterance in video.utterances]
    lags = []
    for step in video.steps:
        named = set(_WORD.findall("".join(names[step.step - 1 : step.step]).lower())) - _SAYS_NOTHING
        near = [start - step.start for start, words in said if words & named and abs(start - step.start) <= _LAG_WINDOW]
        if near:
            lags.append(min(near, key=abs))
    return lags


def render_ingest(report: IngestReport, output: Path) -> str:
    """The outcome of an ingest as text."""
    lines = [
        f"{output}: {report.ingested:,} of {report.videos:,} videos, {report.frames:,} frames, "
        f"{report.utterances:,} utterances" + (f" ({report.already_done:,} done before)" if report.already_done else "")
    ]
    if report.absent:
        lines.append(f"{report.absent:,} listed videos not found (--videos and --captions set their folders)")
    if report.healed:
        lines.append(f"{report.healed:,} of them read again, since their frames were lost")
    if report.others:
        lines.append(f"{report.others:,} more videos are in the corpus, from elsewhere or no longer in the source")
    if report.segments:
        lines.append(f"annotations: {report.tasks} tasks, {report.annotated:,} videos, {report.segments:,} clips")
    partial = [f"{p['path']}: {p['decoded']:.1f} of {p['expected']:.1f} s could be decoded" for p in report.partial]
    lines += _listed("partly decoded", partial)
    lines += _listed("skipped", [f"{path}: {reason}" for path, reason in report.skipped])
    hear = "" if any(path.endswith(".npy") for path in report.uncaptioned) else ", or run again with --transcribe"
    lines += _listed(f"without captions (add a caption file{hear})", report.uncaptioned)
    lines += _listed("without captions, and no speech was heard", report.silent)
    return "\n".join(lines)


def render_summary(summary: Summary) -> str:
    """A summary of a corpus as text."""
    s = summary
    state = "" if s.complete else "   (the last ingest did not finish: run it again)"
    unit = "dims" if s.encoding == "float32" else "px"
    facts: list[tuple[str, str]] = [
        ("corpus", s.path + state),
        ("frames", f"{s.frames:,} {s.encoding}, {s.size} {unit}, {s.fps:g} per second, {_modes(s)}"),
        ("videos", f"{s.videos:,} ({_counts(s.splits)})" if s.videos else "0"),
        ("length", f"{_clock(s.hours * 3600)}; median {_clock(s.median_seconds)}, "
                   f"{_clock(s.shortest_seconds)} to {_clock(s.longest_seconds)}"),
        ("utterances", f"{s.utterances:,}, {s.words_per_minute:.0f} words per minute; "
                       f"captions: {_counts(s.caption_kinds) or 'none'}"),
        ("coverage", (f"{s.decoded_coverage:.1%} decoded, " if s.frames else "") + f"{s.speech_coverage:.1%} narrated"
                     + (f", {s.step_coverage:.1%} steps" if s.segments else "")),
    ]  # fmt: skip
    if s.embeddings:
        facts.append(("embeddings", ", ".join(s.embeddings)))
    if s.segments:
        facts.append(("annotations", f"{s.annotated:,} videos, {s.segments:,} clips"))
    if s.caption_lag is not None:
        lag = f"{abs(s.caption_lag):.1f} s {'after' if s.caption_lag > -0.05 else 'before'} the step (median"
        facts.append(("caption lag", f"{lag} of {s.caption_lag_pairs:,} steps named within 30 s)"))
    if s.absent:
        facts.append(("not found", f"{s.absent:,} listed videos"))
    width = max(len(name) for name, _ in facts)
    lines = [f"{name:<{width}}  {fact}" for name, fact in facts]
    tasks = [(key, task) for key, task in s.tasks.items() if task.segments or task.here]
    if tasks:
        lines += ["", "task                                        steps  found/listed     clips"]
        for key, task in tasks:
            title, here = one_line(task.title or key)[:42], f"{task.here:>5,}/{task.listed:<6,}"
            lines.append(f"{title:<42}  {task.steps:>5}  {here}  {task.segments:>8,}")
    partial = [f"{p['path']}: {p['decoded']:.1f} of {p['expected']:.1f} s" for p in s.partial]
    lines += _listed("partly decoded", partial)
    lines += _listed("skipped", [f"{f['path']}: {f['reason']}" for f in s.failed])
    lines += _listed("without captions", s.uncaptioned)
    lost = [f"{f['path']}: {f['reason']}" for f in s.lost]
    lines += _listed("whose frames are lost (the same ingest again reads them anew)", lost)
    return "\n".join(lines)


def _listed(what: str, entries: list[str]) -> list[str]:
    if not entries:
        return []
    more = [f"  … and {len(entries) - _LIST_AT_MOST:,} more (--json lists all)"] if len(entries) > _LIST_AT_MOST else []
    return [f"{len(entries):,} {what}:", *(f"  {one_line(entry)}" for entry in entries[:_LIST_AT_MOST]), *more]


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items(), key=lambda pair: -pair[1]))


def _modes(summary: Summary) -> str:
    """The mode, or the number of videos in each: a source with few frames is never read in fast mode."""
    one_mode = set(summary.modes) <= {summary.mode}
    return f"{summary.mode} mode" if one_mode else f"videos by mode: {_counts(summary.modes)}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
