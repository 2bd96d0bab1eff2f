"""The pictures of the explorer in the documents can be taken again."""

import pytest
from PIL import Image

pytest.importorskip("fastapi", reason="needs the extra app")
pytest.importorskip("playwright.sync_api", reason="needs playwright (the extra page)")

from scripts.explorer_pictures import take
from tests.app import conftest
from tests.app.browsing import CHROMIUM

explorer, address = conftest.explorer, conftest.address  # fixtures
pytestmark = [
    pytest.mark.slow,  # a browser
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]


def test_three_pictures_small_enough_for_a_document(address, explorer, tmp_path):
    longest = max(explorer.library.cards, key=lambda card: card.duration)
    take(address, tmp_path, longest.title)
    taken = list(tmp_path.iterdir())
    assert {path.name for path in taken} == {"explorer.png", "explorer-next.png", "explorer-marks.png"}
    for path in taken:
        width, height = Image.open(path).size
        assert width == 1280 and height > 700 and path.stat().st_size < 300_000
