"""A contact sheet of a corpus."""

import numpy as np
import pytest
from PIL import Image

from mmcc.errors import InputError
from mmcc.report import contact_sheet
from mmcc.report.contact_sheet import draw
from tests.corpus.small_corpus import write_corpus


def test_a_sheet_has_a_row_per_video_with_frames(tmp_path):
    corpus = write_corpus(tmp_path / "c")
    draw(corpus, tmp_path / "sheet.png")
    assert Image.open(tmp_path / "sheet.png").height < 400
    with pytest.raises(InputError, match="cannot be written"):
        draw(corpus, tmp_path / "nowhere" / "sheet.png")


def test_a_frame_has_what_is_said_until_the_next(tmp_path, monkeypatch):
    sheets = []
    monkeypatch.setattr(contact_sheet, "draw_sheet", lambda *given, **options: sheets.append((given, options)))
    draw(write_corpus(tmp_path / "c"), tmp_path / "sheet.png")
    (((_, _, (row,)), options),) = sheets
    assert [tile.title for tile in row] == ["0.00 s", "1.00 s", "2.00 s"]
    assert [tile.caption for tile in row] == ["", "", "now cut this onion small oil in the pan and so on"]
    assert all(tile.picture.shape == (8, 8, 3) and not np.any(tile.picture) for tile in row)
    assert options["headings"] == [("a", "60 s · 3 frames · 3 utterances · train")]
