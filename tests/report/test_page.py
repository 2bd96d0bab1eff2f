"""Pages: every string escaped, nothing fetched, well-formed."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.report.gallery import Thumbnail, row
from mmcc.report.html import Markup, element, joined, quoted, safe
from mmcc.report.page import Section, listed, titled, write_page
from mmcc.report.plots import Bar, Curve, Mark, bars, curves
from mmcc.report.tables import Cell, Column, Row, Table, to_html

NASTY = "<script>alert('x')</script>\" onload=\"y & <b>"


class Reader(HTMLParser):
    """Checks that elements close in order, and keeps what it saw."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader


@given(st.text(), st.text())
def test_any_text_comes_back_as_it_was(text, value):
    clean = text.encode("utf-8", "replace").decode()
    reader = read(element("p", text, title=value))
    assert [tag for tag, _ in reader.seen] == ["p"]
    assert reader.text.replace("\r\n", "\n") == clean.replace("\r\n", "\n")


def test_attributes_are_named_as_html_names_them():
    made = element("line", x1=1.5, x2=2.0, stroke_width=2, class_="a", title=None, y1=1 / 3)
    assert made == '<line x1="1.5" x2="2" stroke-width="2" class="a" y1="0.33"></line>'


def test_markup_and_text_together_are_text():
    assert safe(Markup("<b>") + "<i>") == "&lt;b&gt;&lt;i&gt;"
    assert joined(["<", Markup("<br>")], " & ") == "&lt; &amp; <br>"


def test_a_name_with_bytes_that_are_no_text_can_be_written():
    assert element("p", "a\udcff").encode() == b"<p>a?</p>"


def whole_page() -> str:
    table = Table(NASTY, (NASTY,), (Column(NASTY),), (Row((NASTY,), (Cell(text=NASTY),)),), (NASTY,))
    drawn = bars(NASTY, [Bar(NASTY, 1.0, 0.5, 1.5, ours=True)], NASTY, marks=[Mark(NASTY, 0.2)])
    line = curves(NASTY, [Curve(NASTY, ((0.0, 1.0), (5.0, 2.0)))], NASTY, NASTY)
    blocks = (titled(NASTY, drawn), titled(NASTY, line), to_html(table), listed([NASTY]))
    return write_page(NASTY, [NASTY], [Section(NASTY, blocks)])


def test_no_string_reaches_the_page_unescaped():
    reader = read(whole_page())
    assert "script" not in {tag for tag, _ in reader.seen}
    assert not any(name.startswith("on") for _, attributes in reader.seen for name in attributes)
    assert reader.text.count(NASTY) >= 12


def test_the_page_fetches_nothing():
    text = whole_page()
    reader = read(text)
    assert not {"img", "link", "script", "iframe", "object", "use", "image"} & {tag for tag, _ in reader.seen}
    links = [value for _, attributes in reader.seen for name, value in attributes.items() if name in ("href", "src")]
    assert links == ["#part-1"]
    assert "url(" not in text and "@import" not in text
    assert "default-src 'none'" in next(a["content"] for t, a in reader.seen if "http-equiv" in a)


def test_the_page_knows_light_and_dark():
    text = whole_page()
    assert "prefers-color-scheme: dark" in text and "color-scheme: light dark" in text
    light, dark = text.split("prefers-color-scheme: dark")
    assert set(re.findall(r"(--\w+): #", light)) == set(re.findall(r"(--\w+): #", dark))


def svg(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def named(root: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    return root.findall(f".//{{http://www.w3.org/2000/svg}}{tag}")


def test_bars_are_as_long_as_their_figures():
    root = svg(bars("t", [Bar("a", 10.0), Bar("b", 20.0, 15.0, 24.0), Bar("c", -5.0)], "x"))
    ten, twenty, below = (float(rect.attrib["width"]) for rect in named(root, "rect"))
    assert twenty == pytest.approx(2 * ten, abs=0.05) and below == pytest.approx(ten / 2, abs=0.05)
    left = [float(rect.attrib["x"]) for rect in named(root, "rect")]
    assert left[0] == left[1] and left[2] + below == pytest.approx(left[0], abs=0.05)


def test_whiskers_span_the_interval():
    root = svg(bars("t", [Bar("a", 20.0, 10.0, 30.0)], "x"))
    (rect,) = named(root, "rect")
    whisker = next(line for line in named(root, "line") if line.attrib["class"] == "whisker")
    zero, length = float(rect.attrib["x"]), float(rect.attrib["width"])
    assert float(whisker.attrib["x1"]) == pytest.approx(zero + length / 2, abs=0.05)
    assert float(whisker.attrib["x2"]) == pytest.approx(zero + length * 1.5, abs=0.05)


def test_a_curve_goes_through_its_points():
    root = svg(curves("t", [Curve("a", ((0.0, 50.0), (10.0, 60.0), (20.0, 55.0))), Curve("b", ())], "x", "y"))
    first, empty = named(root, "polyline")
    (x0, y0), (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in first.attrib["points"].split())
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2) and y0 - y1 == pytest.approx(2 * (y2 - y1), abs=0.3)
    assert not empty.attrib["points"]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_everything_drawn_is_inside_the_picture(values):
    root = svg(bars("t", [Bar(str(at), value, value, value) for at, value in enumerate(values)], "x"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for rect in named(root, "rect"):
        x, y, w, h = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height


def test_curves_differ_by_more_than_their_colour():
    root = svg(curves("t", [Curve(str(n), ((0.0, n), (1.0, n)), style=n) for n in range(8)], "x", "y"))
    looks = {(line.attrib["stroke"], line.attrib.get("stroke-dasharray")) for line in named(root, "polyline")}
    dashes = [line.attrib.get("stroke-dasharray") for line in named(root, "polyline")]
    assert len(looks) == 8 and len(set(dashes)) == 8


def test_the_widest_table_fits_a_page_of_1200_pixels():
    """By the longest word of each column, which is all that a browser must not break: table 2 of the paper."""
    heads = ["R@1", "paper", "R@5", "paper", "R@10", "paper", "rank, worst", "paper", "mean", "paper", "best", "paper"]
    longest = Row(("Representation Anticipation",), tuple(Cell(-100.1, -120.3, -80.1) for _ in heads))
    page = write_page(
        "t", [], [Section("s", (to_html(Table("t", ("model",), tuple(map(Column, heads)), (longest,))),))]
    )
    assert "nowrap" not in page
    cells = re.findall(r"<t[dh](?: [^>]*)?>(?:<strong>)?([^<]*)", page)
    columns = zip(cells[:13], cells[13:], strict=True)
    letters = sum(max(len(word) for cell in column for word in cell.split(" ")) for column in columns)
    padding = 13 * 2 * 0.5 * 16
    assert 0.6 * 0.86 * 16 * letters + padding < 1200 - 2 * 1.5 * 16


def test_text_that_is_not_ours_has_its_own_language_and_direction():
    tiles = row([Thumbnail(None, "0:12", "اقلي البيض"), Thumbnail(np.zeros((8, 8, 3), np.uint8), "0:40", "炒鸡蛋")])
    reader = read(write_page("العجة.mp4", [], [Section("1. 0:12 · اقلي", (tiles,))]).replace("<img", "<br").strip())
    own = {tag for tag, attributes in reader.seen if attributes.get("dir") == "auto"}
    assert {"h1", "h2", "blockquote", "div"} <= own
    assert {attributes.get("lang") for tag, attributes in reader.seen if tag in ("blockquote",)} == {""}
    assert quoted("p", "<b>", class_="x") == '<p class="x" dir="auto" lang="">&lt;b&gt;</p>'
