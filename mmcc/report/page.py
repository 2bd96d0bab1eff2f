"""A self-contained page: no scripts, nothing fetched, light or dark as the reader's system prefers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mmcc.report.html import Markup, element, joined

_NOTHING_FROM_OUTSIDE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_STYLE = Markup("""
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #5b636d; --paper: #ffffff; --line: #d5d9de;
  --c0: #0072b2; --c1: #d55e00; --c2: #007a5a; --c3: #b0578a; --c4: #7d6800; --c5: #2b83ba;
  --bar: #3c8fc4; --ours: #e07a2f; --good: #1d7a35; --bad: #bf2f2f; --card: #f5f6f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --faint: #a2a9b2; --paper: #15181c; --line: #3a4048;
  --c0: #5cb3ea; --c1: #ff9a55; --c2: #3ccf9f; --c3: #ea9cc8; --c4: #d9c14a; --c5: #9ad3f7;
  --bar: #22689a; --ours: #b4571a; --good: #52c46f; --bad: #ff7b72; --card: #1e2228; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 78rem;
  margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin-top: 2rem; }
nav ul { padding-left: 1.2rem; } a { color: var(--c0); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.86rem; }
th, td { padding: 0.28rem 0.5rem; text-align: start; } thead th { border-bottom: 2px solid var(--ink); }
tbody th { font-weight: normal; } tr.rule > * { border-top: 1px solid var(--line); }
.figure { text-align: right; font-variant-numeric: tabular-nums; } .quoted, .note, .faint { color: var(--faint); }
.note { font-size: 0.86rem; margin: 0.4rem 0; }
.warning { display: block; border-inline-start: 4px solid var(--bad);
  padding-inline-start: 0.8rem; }
svg { width: 100%; max-width: 46rem; height: auto; display: block; color: var(--ink); }
svg .grid { stroke: var(--line); } svg .faint { fill: var(--faint); } svg .whisker { stroke-width: 1.6; }
svg .series-0 { fill: var(--bar); } svg .series-1 { fill: var(--ours); }
svg .line-0 { stroke: var(--c0); } svg .line-1 { stroke: var(--c1); } svg .line-2 { stroke: var(--c2); }
svg .line-3 { stroke: var(--c3); } svg .line-4 { stroke: var(--c4); } svg .line-5 { stroke: var(--c5); }
figure { margin: 1.2rem 0; } figcaption { font-weight: 600; font-size: 0.92rem; margin-bottom: 0.4rem; }
.card { background: var(--card); border-radius: 0.6rem; padding: 0.9rem 1rem; margin: 1rem 0; break-inside: avoid; }
.card h3 { margin: 0 0 0.5rem; } .card p { margin: 0.5rem 0 0; } .cards { display: grid; gap: 1rem; align-items: start;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); } .cards > .card { margin: 0; }
.row { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: flex-start; }
.beside { display: flex; gap: 0.6rem; } .beside > ol { margin: 0; min-width: 0; }
.tile { width: 7.4rem; flex: none; margin: 0; font-size: 0.8rem; line-height: 1.35; overflow-wrap: anywhere; }
.tile img, .tile blockquote { width: 100%; box-sizing: border-box; border-radius: 0.3rem; display: block; }
.tile blockquote { min-height: 7.4rem; margin: 0; padding: 0.5rem; border: 1px dashed var(--faint); }
.tile img { aspect-ratio: 1; object-fit: cover; border: 3px solid transparent; }
.tile .place { font-weight: 600; } .good { color: var(--good); } .bad { color: var(--bad); }
.tile.good > img, .tile.good > blockquote { border: 3px solid var(--good); } .tile.good, .tile.bad { color: inherit; }
.tile.bad > img, .tile.bad > blockquote { border: 3px solid var(--bad); }
.arrow { align-self: flex-start; margin-top: 2.8rem; color: var(--faint); } details { margin: 0.8rem 0; }
summary { cursor: pointer; color: var(--faint); } .gauges { max-width: 52rem; margin: 1rem 0; }
.gauge { display: grid; grid-template-columns: 15rem 1fr 11rem; gap: 0.3rem 1rem; align-items: center; }
.gauge + .gauge { margin-top: 0.55rem; } .gauge .value { font-variant-numeric: tabular-nums; font-size: 0.86rem; }
.track { position: relative; display: block; height: 1.5rem; background: var(--card); border-radius: 0.3rem; }
.track i { position: absolute; display: block; print-color-adjust: exact; }
.track .mark { top: 0; bottom: 0; border-left: 2px dotted var(--ink); } .track .mark.ceiling { border-left-style: solid;
  border-left-color: var(--faint); } .track .span { height: 3px; margin-top: -1.5px; }
.track .dot { width: 0.7rem; height: 0.7rem; margin: -0.35rem 0 0 -0.35rem; border-radius: 50%; }
.key { display: inline-block; width: 0.7rem; height: 0.7rem; border-radius: 50%; margin: 0 0.3rem 0 1rem; }
.of-0 { background: var(--ours); } .of-1 { background: var(--bar); } .of-2 { background: var(--c2); }
@media (max-width: 44rem) { body { padding: 1rem; } .gauge { grid-template-columns: 1fr; } .tile { width: 6.2rem; }
  .tile blockquote { min-height: 6.2rem; } .scroll > svg { min-width: 40rem; } .gauge + .gauge { margin-top: 1rem; } }
@media print { body { max-width: none; } .scroll { overflow: visible; } .card { border: 1px solid var(--line); } }
""")


@dataclass(frozen=True)
class Section:
    """A heading and the content below it."""

    title: str
    blocks: tuple[Markup, ...]


def write_page(title: str, lead: Sequence[str], sections: Sequence[Section]) -> str:
    """The whole page as HTML."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_NOTHING_FROM_OUTSIDE),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", _STYLE),
    )
    places = [f"part-{number}" for number in range(1, len(sections) + 1)]
    links = [
        element("li", element("a", section.title, href=f"#{place}"))
        for place, section in zip(places, sections, strict=True)
    ]
    body = element(
        "body",
        element("h1", title, dir="auto"),
        *(element("p", line) for line in lead),
        element("nav", element("ul", *links), aria_label="contents"),
        element("main", *(_section(section, place) for section, place in zip(sections, places, strict=True))),
    )
    return Markup("<!doctype html>\n") + element("html", head, body, lang="en") + "\n"


def titled(title: str, content: Markup) -> Markup:
    """A plot or a table with its title above it."""
    return element("figure", element("figcaption", title), content)


def warning(line: str) -> Markup:
    """A line at the head of a page that nobody should miss."""
    return element("strong", line, class_="warning")


def listed(lines: Sequence[str]) -> Markup:
    return element("ul", *(element("li", line) for line in lines))


def _section(section: Section, place: str) -> Markup:
    return element("section", element("h2", section.title, id=place, dir="auto"), joined(section.blocks, "\n"))
