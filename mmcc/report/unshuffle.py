"""An order as people and scripts see it: text, JSON, a sheet (Figure 6), numbered copies."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mmcc.errors import InputError
from mmcc.text import one_line, storable
from mmcc.tools.unshuffle import PHOTOS, Thing, Unshuffled, UnshuffleResult

if TYPE_CHECKING:
    from mmcc.media.pictures import Pixels
    from mmcc.report.sheets import Tile

SCHEMA = 1
_ROWS = 12  # of a sheet
_DRAWN = 352  # pixels a side that a sheet has use for
_BY = {"pairs": "by all pairs", "path": "by the most likely path"}


def to_json(outcome: UnshuffleResult) -> dict[str, Any]:
    """One bag stands at the top; several as a list, "sequences"."""
    sets = [_set_json(set_) for set_ in outcome.sets]
    content = sets[0] if len(sets) == 1 else {"sequences": sets}
    skipped = [each._asdict() for each in outcome.skipped]
    return {"schema": SCHEMA, **content, "skipped": skipped, "warnings": outcome.warnings}


def _set_json(set_: Unshuffled) -> dict[str, Any]:
    found, things = set_.found, set_.ordered
    P = np.exp(set_.log_P_nn[found.order[:-1], found.order[1:]]).tolist()
    links = zip(things[:-1], things[1:], found.links.tolist(), P, strict=True)
    content: dict[str, Any] = {
        "name": storable(set_.name),
        "of": set_.kind,
        "by": set_.by,
        "order": [each for thing in things for each in _thing_json(thing)],
        "links": [
            {"from": _short(a), "to": _short(b), "probability": before, "transition": transition}
            for a, b, before, transition in links
        ],
        "confidence": found.confidence,
        "probability": found.probability,
        "runner_up": {
            "order": [each for at in found.runner_up for each in _thing_json(set_.things[at])],
            "ratio": found.runner_up_ratio,
        },
        "exact": found.exact,
    }
    if set_.kind != PHOTOS:
        return content | {"kendall_tau": set_.kendall_tau}
    same = [{"path": storable(str(copy)), "of": _short(thing)} for thing in things for copy in thing.copies]
    return content | {"duplicates": same}


def _thing_json(thing: Thing) -> list[Any]:
    """Paths of photos, those of one picture side by side; a segment with its times."""
    if thing.path is not None:
        return [storable(str(path)) for path in (thing.path, *thing.copies)]
    return [{"start": thing.start, "end": thing.end, "text": thing.text, "true_place": thing.true_place}]


def _short(thing: Thing) -> str | float:
    return thing.start if thing.path is None else storable(str(thing.path))


def render(outcome: UnshuffleResult) -> str:
    """For the terminal."""
    return "\n\n".join(_set_text(set_) for set_ in outcome.sets)


def _set_text(set_: Unshuffled) -> str:
    found, things = set_.found, set_.ordered
    wide = max(len(_label(thing)) for thing in things)
    lines = [_heading(set_)]
    for place, thing in enumerate(things, 1):
        link = f"{found.links[place - 2]:5.0%}" if place > 1 else "     "
        true = f"   true {thing.true_place}" if thing.true_place else ""
        lines.append(f"  {place:3}  {link}  {_label(thing):{wide}}{true}".rstrip())
        lines += [f"              the same picture: {one_line(copy)}" for copy in thing.copies]
    lines.append("  (%: how probably each comes after the one above it)")
    number = np.argsort(found.order) + 1
    second = " ".join(str(number[at]) for at in found.runner_up)
    lines.append(f"  {_sureness(set_)}")
    lines.append(f"  runner-up, {found.runner_up_ratio:.2f} times as likely: {second}")
    if set_.kendall_tau is not None:
        lines.append(f"  against the true order: Kendall's tau {set_.kendall_tau:.2f} (1 is the same, 0 is chance)")
    return "\n".join(lines)


def _heading(set_: Unshuffled) -> str:
    what = f"{set_.kind} of {set_.name}" if set_.name else set_.kind
    return f"{len(set_.things)} {what}, {_BY[set_.by]}"


def _sureness(set_: Unshuffled) -> str:
    sure = f"confidence {set_.found.confidence:.2f} (0.5 is a guess): how probably any two stand in the right order"
    if set_.found.probability is None:
        return f"{sure}; estimated, since they are many"
    return f"{sure}; all of them {_percent(set_.found.probability)}"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "< 1%"


def _label(thing: Thing) -> str:
    return f"{thing.name}  {one_line(thing.text)}".rstrip()


def draw(outcome: UnshuffleResult, path: Path) -> None:
    """A row for each bag, in the order that was found; under a segment its true number."""
    from mmcc.report.sheets import draw_sheet

    drawn = outcome.sets[:_ROWS]
    notes = _explained(drawn)
    if len(outcome.sets) > len(drawn):
        notes.append(f"{len(outcome.sets) - len(drawn)} more are not drawn.")
    title = _heading(drawn[0]) if len(drawn) == 1 else f"Unshuffled, {_BY[drawn[0].by]}"
    draw_sheet(
        path, title, [_row(set_, len(drawn) > 1) for set_ in drawn], arrows=True, notes=[*notes, *outcome.warnings]
    )


def _explained(sets: Sequence[Unshuffled]) -> list[str]:
    lines = ["Over each: how probably it comes after the one before it."]
    if any(set_.kendall_tau is not None for set_ in sets):
        lines[0] += " Green: it does; red: it does not. Under each: its true number."
    if len(sets) == 1:
        true = f" Kendall's tau {sets[0].kendall_tau:.2f}." if sets[0].kendall_tau is not None else ""
        lines.append(f"Confidence {sets[0].found.confidence:.2f} that two of them stand in the right order.{true}")
    return lines


def _row(set_: Unshuffled, named: bool) -> list[Tile]:
    from mmcc.report.sheets import Tile

    tiles, before = [], 0
    for at, thing in enumerate(set_.ordered):
        title = f"{set_.found.links[at - 1]:.0%}" if at else (set_.name if named else "")
        caption, mark = _label(thing), ""
        if thing.true_place is not None:
            caption = f"true {thing.true_place} · {caption}"
            mark = ("good" if thing.true_place > before else "bad") if at else ""
            before = thing.true_place
        tiles.append(Tile(_picture(set_, thing), title, caption, mark))
    return tiles


def _picture(set_: Unshuffled, thing: Thing) -> Pixels | None:
    if thing.path is not None:
        from mmcc.media.photos import read_photo

        return read_photo(thing.path, longest=_DRAWN)
    assert set_.footage is not None, "segments are of footage"
    middle = (thing.start + thing.end) / 2
    return set_.footage.still(int(np.abs(set_.footage.video.times - middle).argmin()))


def check_place(folder: Path) -> None:
    """Refuse, before anything is computed, to write where something is."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        cause = "is not empty" if folder.is_dir() else "is no folder"
        raise InputError(folder, cause, "Name a new folder for the copies.")


def copy_numbered(outcome: UnshuffleResult, folder: Path) -> int:
    """Copies of the photos, `01 name.jpg` and on, and how many; the photos themselves are not touched."""
    sets = [set_ for set_ in outcome.sets if set_.kind == PHOTOS]
    if len(sets) != 1:
        cause = f"{len(sets)} sets of photos were put in order" if sets else "a video's segments are no files to copy"
        raise InputError(folder, cause, "Name one set of photos with --copy-to.")
    paths = [path for thing in sets[0].ordered if thing.path for path in (thing.path, *thing.copies)]
    digits = max(2, len(str(len(paths))))
    folder.mkdir(parents=True, exist_ok=True)
    for number, path in enumerate(paths, 1):
        shutil.copy2(path, folder / f"{number:0{digits}} {path.name}")
    return len(paths)
