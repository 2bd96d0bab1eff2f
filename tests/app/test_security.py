"""What no page of this server would send is refused before any route sees it."""

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from mmcc.app import answers
from mmcc.app.security import COOKIE
from mmcc.app.server import create_app
from tests.app.conftest import API

TOKEN = "a-token-of-someone"


@pytest.fixture(scope="module")
def guarded(explorer):
    app = create_app(explorer, hosts=("192.0.2.7", "127.0.0.1"), token=TOKEN)
    return TestClient(app, base_url="http://192.0.2.7:8765", raise_server_exceptions=False)  # without its lifespan


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.", "", "evil.example:8765", "127.0.0.1@evil", "[::2]"]
)
def test_other_hosts_are_refused(client, host):
    found = client.get(f"{API}/about", headers={"host": host})
    assert (found.status_code, found.json()["error"]["code"]) == (400, "host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8765"])
def test_own_names_are_not(client, host):
    assert client.get(f"{API}/about", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://127.0.0.1:8765"}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://127.0.0.1:8765", "sec-fetch-site": "cross-site"}, 403),
    ],
)
def test_only_its_own_page_may_change_something(client, video, headers, status):
    found = client.post(f"{API}/videos/{video}/status", headers=headers)
    assert found.status_code == status
    put = client.put(f"{API}/videos/{video}/marks", headers=headers, json={"task": None, "marks": [], "revision": 0})
    assert put.status_code == status


def test_every_answer_has_the_headers_that_keep_pages_apart(client, video):
    places = ["/", f"{API}/about", f"{API}/videos/{video}/frames/1.jpg", f"{API}/videos/{video}/media", "/nowhere"]
    for place in places:
        headers = client.get(place).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers and "server" not in headers
    preflight = client.options(f"{API}/about", headers={"origin": "http://evil.example"})
    assert preflight.status_code == 405 and "access-control-allow-origin" not in preflight.headers
    assert preflight.headers["allow"] == "GET"
    assert client.delete(f"{API}/videos/{video}/marks").headers["allow"] == "GET, PUT"  # two routes at one address


def test_without_the_token_nothing_is_told(guarded):
    many = "/?" + "a=1&" * 500
    for place in ("/", f"{API}/about", f"{API}/openapi.json", "/static/nothing", f"{API}/about?token=wrong", many):
        found = guarded.get(place)
        assert (found.status_code, found.json()["error"]["code"]) == (401, "token")
    for headers in (
        {"x-mmcc-token": "wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"cookie": f"{COOKIE}=x"},
        {"cookie": b"\xff;;="},
    ):
        assert guarded.get(f"{API}/about", headers=headers).status_code == 401


def test_the_address_with_the_token_gives_a_cookie(guarded):
    found = guarded.get(f"/?token={TOKEN}&x=1", follow_redirects=False)
    assert (found.status_code, found.headers["location"]) == (303, "/?x=1")
    cookie = found.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    elsewhere = guarded.get(f"//evil.example/?token={TOKEN}", follow_redirects=False)
    assert elsewhere.headers.get("location", "/").startswith("/") and "//" not in elsewhere.headers.get("location", "")
    for headers in (
        {"cookie": f"{COOKIE}={TOKEN}"},
        {"x-mmcc-token": TOKEN},
        {"authorization": f"Bearer {TOKEN}"},
    ):
        guarded.cookies.clear()
        assert guarded.get(f"{API}/about", headers=headers).status_code == 200
    assert guarded.post(f"/?token={TOKEN}").status_code in (401, 405)


words = st.text(alphabet="./\\%0azAZ-_~:;?#&=<>\"' 2e5cf", max_size=30)


@given(words)
def test_no_name_leads_out_of_the_library(client, name):
    """Random names for ids, frames and files: an error with a reason, and never a file."""
    for place in (f"{API}/videos/{name}/media", f"/static/{name}", f"{API}/videos/{name}/frames/{name}.jpg"):
        found = client.get(place)
        assert found.status_code in (200, 400, 404, 405, 422), place
        assert "root:" not in found.text
        if found.status_code != 200:
            answers.Error.model_validate(found.json())


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/pyproject.toml", "/etc/passwd", "..\\x", "\0"]
)
def test_traversal(client, name):
    for place in (f"/static/{name}", f"{API}/videos/{name}", f"{API}/videos/{name}/media"):
        found = client.get(place.replace("\0", "%00"))
        assert found.status_code in (404, 405, 422) and "error" in found.json()
