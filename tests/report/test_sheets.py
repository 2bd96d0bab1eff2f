"""Sheets: everything given is on them, nothing overlaps, no text breaks them."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from mmcc.errors import InputError
from mmcc.report import sheets as drawing
from mmcc.report.sheets import Heading, Strip, Tile, draw_sheet, save, sheet_image, wrap, written

RED, BLUE = (np.full((48, 64, 3), colour, np.uint8) for colour in ((250, 10, 10), (10, 10, 250)))


def drawn(tmp_path, *arguments, **options):
    draw_sheet(tmp_path / "sheet.png", *arguments, **options)
    return np.asarray(Image.open(tmp_path / "sheet.png").convert("RGB")).astype(int)


def area(sheet, colour):
    """Rows and columns that a colour spans."""
    rows, columns = np.nonzero((np.abs(sheet - np.array(colour)) < 12).all(axis=2))
    return rows.min(), rows.max() + 1, columns.min(), columns.max() + 1


def test_pictures_are_large_whole_and_side_by_side(tmp_path):
    sheet = drawn(tmp_path, "Soup", [[Tile(RED), Tile(BLUE)]])
    red, blue = area(sheet, (250, 10, 10)), area(sheet, (10, 10, 250))
    assert red[3] - red[2] >= 144
    assert (red[3] - red[2]) / (red[1] - red[0]) == pytest.approx(64 / 48, abs=0.02)  # neither cropped nor stretched
    assert red[:2] == blue[:2] and red[3] < blue[2]


def test_a_mark_surrounds_its_picture(tmp_path):
    for mark, colour in (("good", (21, 128, 61)), ("bad", (198, 40, 40))):
        sheet = drawn(tmp_path, "", [[Tile(BLUE, mark=mark)]])
        frame, inner = area(sheet, colour), area(sheet, (10, 10, 250))
        assert frame[2] < inner[2] < inner[3] < frame[3] and frame[0] < inner[0]


def test_captions_make_room_for_themselves(tmp_path):
    """A row begins below the longest caption of the row before."""
    short = drawn(tmp_path, "", [[Tile(RED, "", "one")], [Tile(BLUE)]])
    long = drawn(tmp_path, "", [[Tile(RED, "", "word " * 60)], [Tile(BLUE)]])
    assert area(long, (10, 10, 250))[0] >= area(short, (10, 10, 250))[0] + 40
    longer = drawn(tmp_path, "", [[Tile(RED, "", "word " * 5000)], [Tile(BLUE)]])
    assert longer.shape == long.shape  # cut


def test_text_is_wrapped_to_its_width_and_cut_with_an_ellipsis():
    font = drawing.font(12)
    text = "a bit of everything goes into this soup and more"
    lines = wrap(text, font, 200, 10)
    assert " ".join(lines) == text and len(lines) > 1
    assert all(font.getlength(line) <= 200 for line in lines)
    assert max(font.getlength(f"{a} {b.split()[0]}") for a, b in pairwise(lines)) > 200  # filled
    cut = wrap(text, font, 200, 2)
    assert len(cut) == 2 and cut[1].endswith("…") and font.getlength(cut[1]) <= 200
    assert "".join(wrap("x" * 90, font, 200, 99)) == "x" * 90  # a word that fits nowhere is broken
    assert wrap("", font, 200, 3) == []


@pytest.mark.parametrize("text", ["", "schälen", "切る 🍳", "\ud800 \x00 \x1b[31m\n\t", "‮abc", "x" * 9999, "é" * 50])
def test_any_text_can_be_drawn(tmp_path, text):
    assert drawn(tmp_path, text, [[Tile(RED, text, text)]], notes=[text], strips=[[Strip(text, np.ones(3))]]).size


def test_without_a_font_of_the_system(tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "_system_font", lambda bold: "")
    drawing.font.cache_clear()
    assert drawing.known("schälen → 切る…") == "schalen -> ??..."
    assert drawn(tmp_path, "schälen", [[Tile(RED, "ä", "切る")]]).size
    drawing.font.cache_clear()


def test_a_long_row_goes_on_below_and_columns_stand_beside_each_other(tmp_path):
    one = drawn(tmp_path, "", [[Tile(RED)] * 8])
    more = drawn(tmp_path, "", [[Tile(RED)] * 8 + [Tile(BLUE)]])
    assert more.shape[1] == one.shape[1] and area(more, (10, 10, 250))[0] > area(more, (250, 10, 10))[1]
    beside = drawn(tmp_path, "", [[Tile(RED)], [Tile(BLUE)]], columns=2)
    assert area(beside, (250, 10, 10))[:2] == area(beside, (10, 10, 250))[:2]


def test_arrows_stand_between_tiles(tmp_path):
    plain, with_arrow = (drawn(tmp_path, "", [[Tile(RED), Tile(BLUE)]], arrows=arrows) for arrows in (False, True))
    left, right = area(with_arrow, (250, 10, 10))[3], area(with_arrow, (10, 10, 250))[2]
    assert (with_arrow[:, left + 2 : right - 2] < 200).any()
    assert not (plain[:, area(plain, (250, 10, 10))[3] + 2 : area(plain, (10, 10, 250))[2] - 2] < 200).any()


def test_a_strip_is_darkest_where_the_weight_is(tmp_path):
    sheet = drawn(tmp_path, "", [[Tile(BLUE)] * 3], strips=[[Strip("", np.array([0.0, 0.1, 0.9, 0.0]))]])
    _, _, left, right = area(sheet, (194, 65, 12))
    middle = (left + right) / 2
    start, end = area(sheet, (232, 235, 240))[2:]  # the empty cells
    assert start + (end - start) / 2 < middle < start + (end - start) * 3 / 4 + 6


def test_words_can_be_a_picture():
    assert written("peel the potatoes").shape == written("").shape
    assert (written("peel the potatoes") < 100).any() and not (written("") < 100).any()


def test_nothing_to_draw_is_a_sheet_too(tmp_path):
    assert drawn(tmp_path, "Nothing", []).size
    assert drawn(tmp_path, "", [[Tile(None, "a"), Tile(np.zeros((0, 0, 3), np.uint8))]]).size


def test_a_place_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        draw_sheet(tmp_path / "no" / "sheet.png", "", [])


def test_a_heading_stands_above_its_row_with_its_facts_at_the_right(tmp_path):
    sheet = drawn(tmp_path, "", [[Tile(RED)] * 4, [Tile(BLUE)] * 4], headings=[Heading("Soup", "60 s"), Heading("")])
    plain = drawn(tmp_path, "", [[Tile(RED)] * 4, [Tile(BLUE)] * 4])
    top, _, left, right = area(sheet, (250, 10, 10))
    ink = np.nonzero((sheet[:top, left:right] < 200).any(axis=(0, 2)))[0]
    assert ink.min() < 10 and ink.max() > right - left - 10  # the name at the left, the facts at the right
    gaps = [area(each, (10, 10, 250))[0] - area(each, (250, 10, 10))[0] for each in (sheet, plain)]
    assert gaps[0] == gaps[1] and top > area(plain, (250, 10, 10))[0] + 10


def test_a_heading_too_long_for_one_line_takes_more(tmp_path):
    short, long = (
        drawn(tmp_path, "", [[Tile(RED)]], headings=[Heading("Soup", facts)]) for facts in ("1 s", "many facts " * 5)
    )
    assert area(long, (250, 10, 10))[0] > area(short, (250, 10, 10))[0] + 10


def test_a_drawing_is_saved_as_png_or_with_a_quality_as_jpeg(tmp_path):
    image = sheet_image("", [[Tile(RED)]])
    save(image, tmp_path / "a.png")
    save(image, tmp_path / "a.jpg", quality=50)
    with Image.open(tmp_path / "a.png") as png, Image.open(tmp_path / "a.jpg") as jpeg:
        assert (png.format, jpeg.format) == ("PNG", "JPEG") and png.size == jpeg.size == (
            image.width / 2,
            image.height / 2,
        )


def test_warnings_are_drawn_in_red_above_the_pictures(tmp_path):
    plain = drawn(tmp_path, "title", [[Tile(None)]])
    warned = drawn(tmp_path, "title", [[Tile(None)]], warnings=["do not rely on it"])
    rows = [np.flatnonzero((each[..., 0] - each[..., 1] > 100).any(axis=1)) for each in (plain, warned)]
    assert len(rows[0]) == 0 < len(rows[1]) and rows[1].max() < len(warned) / 3


def test_a_drawing_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "sheet.png"
    path.write_bytes(b"old")

    def interrupted(self, file, **options):
        file.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Image.Image, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(Image.new("RGB", (4, 4)), path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
