"""Orders for people: as text, as a sheet like the paper's Figure 6, as a card on a page, as numbered copies."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from mmcc.errors import InputError
from mmcc.report.gallery import Thumbnail, card, row
from mmcc.report.html import Markup
from mmcc.report.sheets import Tile, draw_sheet
from mmcc.text import one_line
from mmcc.tools.orders import EQUAL, LABELLED, PHOTOS, Thing, Unshuffled, UnshuffleResult

if TYPE_CHECKING:
    from mmcc.media.pictures import Pixels

_ROWS = 12  # on a sheet
_LARGEST = 352  # pixels on a photo's longer side: all that a sheet shows
_KINDS = {PHOTOS: "photos", LABELLED: "labelled clips", EQUAL: "equal clips"}
_BY = {"pairs": "by all pairs", "path": "by the most likely path"}


def render(outcome: UnshuffleResult) -> str:
    """A list per set, with what the order is worth; first of all, if it is worth nothing."""
    return "\n\n".join(_set_text(set_) for set_ in outcome.sets)


def guess_lines(sets: Sequence[Unshuffled]) -> list[str]:
    """One plain line for each set whose order is no better than a guess."""
    of = [f" of {set_.name}" if len(sets) > 1 and set_.name else "" for set_ in sets]
    return [
        f"This order{name} is no better than a guess: {set_.guess}."
        for set_, name in zip(sets, of, strict=True)
        if set_.guess
    ]


def _set_text(set_: Unshuffled) -> str:
    found, things = set_.found, set_.ordered
    wide = max(len(_label(thing)) for thing in things)
    lines = [*guess_lines([set_]), _heading(set_)]
    for place, thing in enumerate(things, 1):
        link = f"{found.links[place - 2]:5.0%}" if place > 1 else "     "
        true = f"   true {thing.true_place}" if thing.true_place else ""
        lines.append(f"  {place:3}  {link}  {_label(thing):{wide}}{true}".rstrip())
        lines += [f"              the same picture: {one_line(copy)}" for copy in thing.copies]
    lines.append(f"  (%: {_link_meaning(set_)})")
    number = np.argsort(found.order) + 1
    second = " ".join(str(number[at]) for at in found.runner_up)
    lines.append(f"  {_sureness(set_)}")
    lines.append(f"  runner-up, {found.runner_up_ratio:.2f} times as likely: {second}")
    if set_.kendall_tau is not None:
        lines.append(f"  against the true order: Kendall's tau {set_.kendall_tau:.2f} (1: the same, 0: chance)")
    return "\n".join(lines)


def _heading(set_: Unshuffled) -> str:
    of = f" of {set_.name}" if set_.name else ""
    return f"{len(set_.things)} {_KINDS[set_.kind]}{of}, {_BY[set_.by]}"


def _sureness(set_: Unshuffled) -> str:
    sure = f"confidence {set_.found.confidence:.2f} (0.5: a guess)"
    if not set_.calibrated:
        return f"{sure}, not calibrated for {'such pictures' if set_.strange else 'this model on such sets'}"
    sure += ": probability that any two are in the right order"
    if set_.found.probability is None:
        return f"{sure}; estimated, as there are many"
    return f"{sure}; that all are: {_percent(set_.found.probability)}"


def _link_meaning(set_: Unshuffled) -> str:
    meaning = "probability that each comes after the one above it"
    return meaning if set_.calibrated else f"the model's {meaning}, not calibrated"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "< 1%"


def _label(thing: Thing) -> str:
    return f"{thing.name}  {one_line(thing.text)}".rstrip()


def draw(outcome: UnshuffleResult, path: Path) -> None:
    """A row per set, in the order found; under each clip its true place."""
    drawn = outcome.sets[:_ROWS]
    notes = _explained(drawn)
    if len(outcome.sets) > len(drawn):
        notes.append(f"{len(outcome.sets) - len(drawn)} more are not shown.")
    title = _heading(drawn[0]) if len(drawn) == 1 else f"Unshuffled, {_BY[drawn[0].by]}"
    rows = [_row(set_, len(drawn) > 1) for set_ in drawn]
    draw_sheet(path, title, rows, arrows=True, notes=notes, warnings=[*guess_lines(drawn), *_others(outcome, drawn)])


def _others(outcome: UnshuffleResult, drawn: Sequence[Unshuffled]) -> list[str]:
    """Warnings that no line on a guess has said already."""
    return [line for line in outcome.warnings if not any(_says(line, set_.strange) for set_ in drawn)]


def _says(line: str, strange: str) -> bool:
    return bool(strange) and strange.removeprefix("the pictures are ") in line


def _explained(sets: Sequence[Unshuffled]) -> list[str]:
    lines = ["Above each: the probability that it comes after the one before it."]
    if any(set_.kendall_tau is not None for set_ in sets):
        lines[0] += " Green: it does; red: it does not. Below each: its true place."
    if len(sets) == 1:
        true = f" Kendall's tau {sets[0].kendall_tau:.2f}." if sets[0].kendall_tau is not None else ""
        lines.append(f"{_sureness(sets[0]).capitalize()}.{true}")
    return lines


def _row(set_: Unshuffled, named: bool) -> list[Tile]:
    tiles = []
    for at, (thing, mark) in enumerate(zip(set_.ordered, _marks(set_), strict=True)):
        title = f"{set_.found.links[at - 1]:.0%}" if at else (set_.name if named else "")
        caption = _label(thing) if thing.true_place is None else f"true {thing.true_place} · {_label(thing)}"
        tiles.append(Tile(_picture(set_, thing), title, caption, mark))
    return tiles


def _marks(set_: Unshuffled) -> list[str]:
    """Whether each really comes after the one before it, if the true order is known."""
    places = [thing.true_place for thing in set_.ordered]
    return [
        "" if before is None or place is None else "good" if place > before else "bad"
        for before, place in zip([None, *places[:-1]], places, strict=True)
    ]


def _picture(set_: Unshuffled, thing: Thing) -> Pixels | None:
    if thing.path is not None:
        from mmcc.media.photo_worker import read_to_show

        return read_to_show(thing.path, _LARGEST)
    assert set_.footage is not None, "clips come from footage"
    middle = (thing.start + thing.end) / 2
    return set_.footage.still(int(np.abs(set_.footage.video.times - middle).argmin()))


def order_card(set_: Unshuffled, title: str) -> Markup:
    """One set on a page, each clip with its true place."""
    tiles = [
        Thumbnail(_picture(set_, thing), str(thing.true_place or ""), thing.text or thing.name, mark)
        for thing, mark in zip(set_.ordered, _marks(set_), strict=True)
    ]
    return card(title, row(tiles, arrows=True))


def check_place(folder: Path) -> None:
    """Refuse to write into a folder with content, before anything is computed."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        cause = "is not empty" if folder.is_dir() else "is not a folder"
        raise InputError(folder, cause, "Choose a new folder for the copies.")


def copy_numbered(outcome: UnshuffleResult, folder: Path) -> int:
    """Copy the photos as `01 name.jpg` and so on, and count them; the originals are not touched."""
    sets = [set_ for set_ in outcome.sets if set_.kind == PHOTOS]
    if len(sets) != 1:
        cause = f"{len(sets)} sets of photos were put in order" if sets else "clips of a video cannot be copied"
        raise InputError(folder, cause, "Use --copy-to with one set of photos.")
    paths = [path for thing in sets[0].ordered if thing.path for path in (thing.path, *thing.copies)]
    digits = max(2, len(str(len(paths))))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".tmp-", dir=folder.parent) as place:
            draft = Path(place) / "copies"  # all of them, or none
            draft.mkdir()
            for number, path in enumerate(paths, 1):
                shutil.copy2(path, draft / f"{number:0{digits}} {path.name}")
            draft.replace(folder)
    except OSError as error:
        cause = f"cannot be written ({error.strerror or error})"
        raise InputError(folder, cause, "Choose another place, or free some space.") from None
    return len(paths)
