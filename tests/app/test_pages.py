"""The page's own files, and nothing else."""

from mmcc.app import pages


def test_files_of_the_page_have_their_types_and_can_be_kept(client):
    found = client.get("/")
    assert found.status_code == 200 and found.headers["content-type"] == "text/html; charset=utf-8"
    again = client.get("/", headers={"if-none-match": found.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    scripts = list(pages.STATIC.rglob("*.js"))
    for path in scripts:
        script = client.get(f"/static/{path.relative_to(pages.STATIC).as_posix()}")
        assert script.headers["content-type"].startswith("text/javascript") and script.content == path.read_bytes()
    assert scripts and client.head("/").status_code == 200


def test_links_and_other_kinds_of_files_are_not_served(client, tmp_path, monkeypatch):
    (tmp_path / "secret.txt").write_text("secret")
    static = tmp_path / "static"
    static.mkdir()
    (static / "page.html").write_text("page")
    (static / "link.txt").symlink_to(tmp_path / "secret.txt")
    (static / "code.py").write_text("code")
    monkeypatch.setattr(pages, "STATIC", static)
    assert client.get("/static/page.html").text == "page"
    for name in ("link.txt", "code.py", "../secret.txt", "%2e%2e/secret.txt", ""):
        assert client.get(f"/static/{name}").status_code == 404
    assert client.get("/favicon.ico").status_code == 204
