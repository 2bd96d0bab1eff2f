"""An explorer of eight kitchen videos and a small model, a client that asks it, and a server that others ask."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

pytest.importorskip("fastapi", reason="needs the extra app")

import uvicorn
from fastapi.testclient import TestClient

from mmcc.app.explorer import Explorer
from mmcc.app.server import create_app, open_explorer
from mmcc.tools.marks import Annotations

API = "/api/v1"


@pytest.fixture(scope="session")
def explorer(kitchen_footage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """Two models: the second is the first by another name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MMCC_CACHE", str(tmp_path_factory.mktemp("explorer_cache")))
        found = open_explorer(str(kitchen_footage.run), kitchen_footage.corpus, against=str(kitchen_footage.run))
        # Not beside the corpus, which other tests share.
        folder = tmp_path_factory.mktemp("explorer") / "kitchen.annotations"
        found.marks = Annotations(folder, [card.id for card in found.library.cards])
        yield found
        found.close()


@pytest.fixture(scope="session")
def client(explorer: Explorer) -> Iterator[TestClient]:
    with TestClient(create_app(explorer), base_url="http://127.0.0.1:8765", raise_server_exceptions=False) as found:
        yield found


@contextmanager
def serving(explorer: Explorer) -> Iterator[str]:
    """The address of a server, whose end does not close the explorer: tests share it."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(explorer), log_level="error", lifespan="off", ws="none"))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture(scope="module")
def address(explorer: Explorer) -> Iterator[str]:
    with serving(explorer) as found:
        yield found


@pytest.fixture(scope="session")
def video(explorer: Explorer) -> str:
    """The id of a video with captions and steps."""
    cards = explorer.library.cards
    return next(card.key for card in cards if card.utterances > 5 and explorer.library.footage(card.key).video.steps)


@pytest.fixture(scope="session")
def photos(explorer: Explorer, video: str) -> list[bytes]:
    """Four frames of that video, as JPEG."""
    from mmcc.report.frames import frame_jpeg

    footage = explorer.library.footage(video)
    return [frame_jpeg(footage, at) for at in (3, 30, 60, 90)]


@pytest.fixture
def annotations(explorer: Explorer) -> Path:
    return explorer.marks.folder
