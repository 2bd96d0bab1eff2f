"""What the interface says of things that are not as they should be: a model whose encoders are not installed."""

import pytest

pytest.importorskip("fastapi", reason="needs the extra app")

from fastapi.testclient import TestClient

from mmcc.app.server import create_app, open_explorer
from mmcc.pretrained import shipped_names

pytestmark = pytest.mark.skipif("cook" not in shipped_names(), reason="the model cook is not in this checkout")


def test_without_its_encoders_a_model_is_asked_in_vain_and_told_how_to_install_them(make_clip, tmp_path, monkeypatch):
    videos = make_clip("videos/soup.mp4", seconds=3).parent
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("mmcc.backbones.efficientnet.importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("mmcc.backbones.names._opened", lambda factory, name, stamp: factory(name))  # none is kept
    explorer = open_explorer("cook", videos)
    with TestClient(create_app(explorer), base_url="http://127.0.0.1:8765", raise_server_exceptions=False) as client:
        (video,) = client.get("/api/v1/videos").json()["videos"]
        place = f"/api/v1/videos/{video['id']}"
        answer = client.get(f"{place}/transitions")
        assert answer.status_code == 501
        error = answer.json()["error"]
        assert error["code"] == "missing" and "efficientnet-lite2 needs" in error["cause"]
        assert "pip install 'mmcc[encoders]'" in error["remedy"]
        assert "efficientnet-lite2 needs" in client.get(f"{place}/status").json()["reason"]
