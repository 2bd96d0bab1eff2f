"""What a request must be, whatever it asks for: for this host, from this page, with the token, and not too large.

Host             names this server: a page elsewhere whose name is made to point here (DNS rebinding) does not
Origin           of a request that changes something is this server's own, where a browser tells it
token            needed unless the server listens to this machine alone: ?token=… once, then a cookie, or a header
Content-Length   is within the limit, and so is what is really sent
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mmcc.app.failures import Failure, error_body

COOKIE = "mmcc_token"
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "media-src 'self' blob:; connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD", "OPTIONS")
_FROM_HERE = ("same-origin", "none")  # Sec-Fetch-Site; none: typed into the address bar
_SMALL = 1 << 20  # bytes of a body that is no upload
_UPLOADS = ("/api/v1/next", "/api/v1/unshuffle")


class Guard:
    """Refuses, before any route sees it, a request that no page of this server would send."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str], token: str | None, largest: int) -> None:
        self._app, self._token, self._largest = app, token, largest
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no web sockets here

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        refused = self._refused(scope, headers)
        if refused is not None:
            await refused(scope, receive, send_guarded)
            return
        limit = self._largest if scope["path"] in _UPLOADS else _SMALL
        await self._app(scope, _limited(receive, limit), send_guarded)

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        if not self._is_own(headers.getlist("host")):
            return _no(400, "host", "This server is known by another name.", "Open the address that it printed.")
        if scope["method"] not in _SAFE and not self._is_same_origin(headers):
            return _no(403, "origin", "Another page may not change anything here.", "Use this server's own page.")
        if self._token is not None and not self._is_allowed(headers):
            return self._let_in(scope) or _no(
                401, "token", "This server asks for its token.", "Open the address that it printed, with ?token=…"
            )
        length = headers.get("content-length", "0")
        limit = self._largest if scope["path"] in _UPLOADS else _SMALL
        if not (length.isascii() and length.isdigit()) or len(length) > 18 or int(length) > limit:
            return _no(413, "too_large", f"A request may have {limit:,} bytes at most.", "Send fewer or smaller files.")
        return None

    def _is_own(self, hosts: Sequence[str]) -> bool:
        return len(hosts) == 1 and _without_port(hosts[0]) in self._hosts

    def _is_same_origin(self, headers: Headers) -> bool:
        """Programs that are no browsers send neither header; a browser sends Origin with everything but GET."""
        site, origins = headers.get("sec-fetch-site"), headers.getlist("origin")
        if site is not None and site not in _FROM_HERE:
            return False
        host = headers.get("host", "").lower()
        return all(origin.lower() in (f"http://{host}", f"https://{host}") for origin in origins)

    def _is_allowed(self, headers: Headers) -> bool:
        given = [headers.get("x-mmcc-token", ""), headers.get("authorization", "").removeprefix("Bearer ")]
        try:
            cookie = SimpleCookie(headers.get("cookie", "")[:4096]).get(COOKIE)
        except CookieError:
            cookie = None
        given.append(cookie.value if cookie else "")
        return any(self._is_token(each) for each in given)

    def _is_token(self, given: str) -> bool:
        assert self._token is not None
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())

    def _let_in(self, scope: Scope) -> Response | None:
        """For the address with the token: the same one without it, and a cookie."""
        try:
            words = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=100)
        except ValueError:  # more than that: no address that was printed
            return None
        if scope["method"] != "GET" or not any(name == "token" and self._is_token(value) for name, value in words):
            return None
        rest = urlencode([(name, value) for name, value in words if name != "token"])
        place = "/" + scope["path"].lstrip("/") + (f"?{rest}" if rest else "")
        response = RedirectResponse(place, 303)
        response.set_cookie(COOKIE, self._token or "", httponly=True, samesite="strict", path="/")
        return response


def _without_port(host: str) -> str:
    """Of "localhost:8000", "[::1]:8000" and the like."""
    name, colon, port = host.strip().lower().rpartition(":")
    return name if colon and port.isdigit() and not name.endswith(":") else host.strip().lower()


def _limited(receive: Receive, limit: int) -> Receive:
    """A body without a length, in chunks, has the same limit."""
    left = limit

    async def limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise _too_large(limit)
        return message

    return limited


def _too_large(limit: int) -> Failure:
    return Failure(413, "too_large", f"A request may have {limit:,} bytes at most.", "Send fewer or smaller files.")


def _no(status: int, code: str, cause: str, remedy: str) -> Response:
    return JSONResponse(error_body(code, cause, remedy), status, {"cache-control": "no-store"})
