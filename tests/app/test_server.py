"""The server as a process of its own: a folder of videos, an address, a token, and an orderly end."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.app import answers
from mmcc.app.server import open_explorer
from mmcc.errors import InputError


@pytest.mark.slow
def test_a_folder_of_videos_is_read_served_and_left(kitchen_footage, tmp_path):
    folder = tmp_path / "videos"
    folder.mkdir()
    first = kitchen_footage.videos[0]
    for path in first.parent.glob(f"{first.stem}*"):
        shutil.copy(path, folder)
    words = ["serve", str(kitchen_footage.run), str(folder), "--port", "0", "--host", "0.0.0.0"]
    environment = {**os.environ, "MMCC_CACHE": str(tmp_path / "cache")}
    process = subprocess.Popen(
        [sys.executable, "-m", "mmcc", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = urlsplit(process.stdout.readline().strip())
        token = address.query.removeprefix("token=")
        assert address.hostname == "0.0.0.0" and len(token) >= 32
        asked = urllib.request.Request(
            f"http://127.0.0.1:{address.port}/api/v1/videos", headers={"X-Mmcc-Token": token}
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            (video,) = json.loads(answer.read())["videos"]
        assert video["title"] == first.stem
        connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=30)
        connection.request("GET", "/api/v1/about", headers={"Host": "evil.example"})
        assert connection.getresponse().status == 400
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        _, told = process.communicate()
    assert "Traceback" not in told and "1 video" in told


def test_a_port_that_is_taken_and_a_library_that_is_not_there(kitchen_footage, tmp_path, capsys):
    from mmcc.cli.main import main

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["serve", str(kitchen_footage.run), str(kitchen_footage.corpus), "--port", port]) == 3
    assert "another --port" in capsys.readouterr().err
    for host in ("192.0.2.1", "no.such.name.invalid"):
        words = ["serve", str(kitchen_footage.run), str(kitchen_footage.corpus), "--port", "0", "--host", host]
        assert main(words) == 3 and "--host" in capsys.readouterr().err
    with pytest.raises(InputError):
        open_explorer(str(kitchen_footage.run), tmp_path / "nowhere")
    with pytest.raises(InputError):
        open_explorer("no_run", kitchen_footage.corpus)


def test_every_route_is_in_the_schema_and_every_reference_in_it_is_there(client):
    found = client.get("/api/v1/openapi.json").json()
    routes = {path.removeprefix("/api/v1") for path in found["paths"]}
    assert {"/about", "/videos", "/videos/{video}/cycle", "/next", "/unshuffle", "/videos/{video}/marks"} <= routes
    known = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}

    def references(content):
        if isinstance(content, dict):
            yield from ([content["$ref"]] if "$ref" in content else ())
            content = list(content.values())
        for each in content if isinstance(content, list) else ():
            yield from references(each)

    assert set(references(found)) <= known


VALUES = st.one_of(st.integers(-3, 10**12).map(str), st.text(alphabet="aZ09-_.,%&=<>'\u00e9\u202e ", max_size=12))


@given(st.data())
def test_no_request_by_the_schema_is_a_server_error(client, video, data):
    """Any value for any parameter of any route: an answer, or an error with a reason."""
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    path = data.draw(st.sampled_from(sorted(paths)))
    method, route = data.draw(st.sampled_from(sorted(paths[path].items())))
    given_values = {
        each["name"]: video if each["name"] == "video" and data.draw(st.booleans()) else data.draw(VALUES)
        for each in route.get("parameters", [])
        if each["required"] or data.draw(st.booleans())
    }
    for each in route.get("parameters", []):
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", quote(given_values.pop(each["name"]), safe=""))
    found = client.request(method, path, params=given_values)
    assert found.status_code < 500, f"{method} {path} {given_values}: {found.text}"
    if found.status_code >= 400:
        answers.Error.model_validate(found.json())


def test_a_bug_is_told_without_details_and_with_the_guards_headers(client, explorer, monkeypatch, capsys):
    def fail(*_, **__):
        raise RuntimeError("/home/someone/secret")

    monkeypatch.setattr(explorer.library, "page", fail)
    found = client.get("/api/v1/videos")
    assert (found.status_code, found.json()["error"]["code"]) == (500, "bug") and "secret" not in found.text
    assert found.headers["x-content-type-options"] == "nosniff" and "content-security-policy" in found.headers
    assert "RuntimeError" in capsys.readouterr().err
