"""A page about a trained model: its data, its figures, its training, and what the tools answer on held-out videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mmcc.corpus import Corpus
from mmcc.data.splits import videos_for
from mmcc.errors import InputError
from mmcc.evaluation.embedding import Progress
from mmcc.evaluation.runs import Checkpoint, find_checkpoint
from mmcc.report import examples, training
from mmcc.report.examples import ReportContext, without
from mmcc.report.measured import Evaluation, headline, measured
from mmcc.report.neurons import neurons_section
from mmcc.report.page import Section, warning, write_page
from mmcc.tools.cache import Cache
from mmcc.tools.familiar import familiarity
from mmcc.tools.model import ToolModel
from mmcc.tools.neurons import find_neurons
from mmcc.untrusted import read_json

Bars = Callable[[str], Progress]
_LARGEST_RESULTS = 1 << 28  # bytes: every figure lists its videos
_BY_CHANCE = 0.05  # share of strange videos: about one in a hundred is a false alarm
_PARTS: Mapping[str, Callable[[ReportContext], Section]] = {
    "what comes next": examples.nexts,
    "cycles": examples.cycles,
    "transitions": examples.transitions,
    "orders": examples.orders,
}


def model_report(
    model: ToolModel,
    corpus: Corpus,
    evaluations: Sequence[Evaluation],
    *,
    cache: Cache,
    title: str = "",
    extra: Sequence[str] = (),
    bars: Bars | None = None,
) -> str:
    """The page's text. `evaluations`: this model's first, then those of models to compare with; `extra`: more lines
    for the head of the page."""
    found = find_checkpoint(model.folder)
    ids = tuple(held_out(corpus, found))
    context = ReportContext(model, corpus, ids, cache, bars("embedding") if bars else None)
    sections = [measured(evaluations)] if evaluations else []
    parts = list(_PARTS)
    for part in bars("drawing")(parts) if bars else parts:
        sections.append(_PARTS[part](context))
    sections.append(_neurons(model, corpus, cache))
    sections += [*training.data(model, found, corpus, ids), training.training(found)]
    lines = [training.lead(model, found, corpus, ids), *(filter(None, map(headline, evaluations[:1]))), *extra]
    lines += [warning(f"Warning: {line}") for line in _unfamiliar(context)]
    return write_page(title or f"{model.adapter.name}: what it has learned", lines, sections)


def _unfamiliar(context: ReportContext) -> list[str]:
    """What readers should know if more of the videos are unlike the training data than by chance."""
    known = familiarity(context.model, context.footage, context.cache)
    return known.cautions if len(known.strange) > _BY_CHANCE * len(context.footage) else []


def held_out(corpus: Corpus, found: Checkpoint) -> list[str]:
    """The corpus's test videos; only those of tasks with known steps, if there are any."""
    test = videos_for(corpus, "test", found.setting("data.held_out", 0.05), found.setting("data.fold", None))
    if not test:
        remedy = "Ingest more videos, or choose a corpus that has some with --corpus; "
        remedy += "mmcc evaluate RUN --corpus CORPUS --on all measures without a page."
        raise InputError(corpus.path, "has no test videos, which the page is about", remedy)
    primary = [each for each in test if _is_primary(corpus, each)]
    return primary or test


def find_corpus(model: ToolModel, named: Path | None) -> Corpus:
    """The one given, or the one the model was trained on. It must have test videos."""
    path = named or model.trained_on
    if path is None:
        remedy = "Ingest videos that it has not seen, and give their corpus with --corpus."
        raise InputError(model.name, "does not say which corpus it was trained on", remedy)
    if named is None and not path.is_dir():
        raise InputError(model.name, f"was trained on {path}, which no longer exists", "Choose a corpus with --corpus.")
    corpus = Corpus.open(path)
    held_out(corpus, find_checkpoint(model.folder))
    return corpus


def read_results(path: Path) -> Evaluation:
    """Results written by `mmcc evaluate -o`."""
    try:
        content = read_json(path, dict, largest=_LARGEST_RESULTS)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})", "Write it with mmcc evaluate -o FILE.") from None
    if not isinstance(content.get("tasks"), dict) or content.get("schema") != 1:
        raise InputError(path, "was not written by mmcc evaluate", "Write it with mmcc evaluate -o FILE.")
    return content


def _neurons(model: ToolModel, corpus: Corpus, cache: Cache) -> Section:
    try:
        return neurons_section(find_neurons(model, corpus, cache))
    except InputError as error:
        return without("Neurons", f"No neurons to show: {error.cause}.")


def _is_primary(corpus: Corpus, video: str) -> bool:
    tasks = corpus[video].tasks
    task = corpus.tasks.get(tasks[0]) if tasks else None
    return task is not None and task.primary
