"""The server: routes behind the guard, a socket, and an orderly end."""

from __future__ import annotations

import asyncio
import errno
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from mmcc.api import Model, load_model
from mmcc.app import answers, marking, pages, photos, questions, videos
from mmcc.app.explorer import Explorer
from mmcc.app.failures import add_handlers
from mmcc.app.security import Guard
from mmcc.app.worker import Worker
from mmcc.errors import InputError
from mmcc.tools.footage import Begin
from mmcc.tools.marks import Annotations

LOCAL = ("127.0.0.1", "localhost", "::1")
_PREFIX = "/api/v1"
_CONNECTIONS = 1000
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": answers.Error} for status in (400, 401, 403, 404, 413, 422, 501, 503)
}


def create_app(explorer: Explorer, *, hosts: Sequence[str] = LOCAL, token: str | None = None) -> Guard:
    """The application. `hosts`: the names it answers to; `token`: what a request must know."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(explorer.close)

    app = FastAPI(
        title="mmcc",
        summary="What a model believes about your videos",
        version="1",
        openapi_url=f"{_PREFIX}/openapi.json",
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        responses=_ERRORS,
    )
    app.state.explorer = explorer
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # of a bad form the one who sent it is told
    add_handlers(app)
    for router in (videos.router, questions.router, photos.router, marking.router):
        app.include_router(router, prefix=_PREFIX)
    app.include_router(pages.router)
    names = [_bracketed(host) for host in hosts]
    # Around everything, also around what answers after a bug: a middleware would be inside of that.
    return Guard(app, names, token, explorer.limits.all_bytes)


def open_explorer(model: str, source: Path, *, against: str | None = None, progress: Begin | None = None) -> Explorer:
    """Load the models and open the library; of a folder, its videos are read first."""
    worker = Worker()
    try:
        models = _named([load_model(each, between=worker.between) for each in (model, against) if each])
        library = next(iter(models.values())).open_library(source, progress=progress)
    except BaseException:
        worker.close()
        raise
    beside = source.absolute().with_name(f"{source.absolute().name}.annotations")
    return Explorer(library, models, worker, Annotations(beside, [card.id for card in library.cards]))


def _named(models: Sequence[Model]) -> dict[str, Model]:
    """By ids that can be part of an address."""
    found: dict[str, Model] = {}
    for model in models:
        plain = "".join(
            letter for letter in Path(model.name).name if letter.isascii() and (letter.isalnum() or letter in "-_")
        )
        name, number = plain[:40] or "model", 1
        while name in found:
            number += 1
            name = f"{plain[:40] or 'model'}-{number}"
        found[name] = model
    return found


def run(
    explorer: Explorer,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until interrupted; `ready` is told the address. A host other than this machine's own has a token."""
    local = host in LOCAL
    token = token or (None if local else secrets.token_urlsafe(24))
    listening = _listen(host, port)
    hosts = LOCAL if local else (host, *LOCAL, *_own_names(host))
    app = create_app(explorer, hosts=hosts, token=token)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=32 << 10,
        ws="none",
        lifespan="on",
    )
    place = f"http://{_bracketed(host)}:{listening.getsockname()[1]}/"
    ready(place + (f"?token={token}" if token else ""))
    try:
        with suppress(KeyboardInterrupt):  # that is how people stop it
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
        explorer.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(256)
    except OSError as error:
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        remedy = "Choose another --port." if taken else "Choose a --host that this machine has."
        raise InputError(f"{host}:{port}", f"cannot be listened at ({error.strerror or error})", remedy) from None
    listening.set_inheritable(False)
    return listening


def _own_names(host: str) -> list[str]:
    """What this machine is called, where a server listens at all of its addresses."""
    if host not in ("0.0.0.0", "::"):
        return []
    name = socket.gethostname()
    try:
        addresses = {str(each[4][0]) for each in socket.getaddrinfo(name, None)}
    except OSError:
        addresses = set()
    return [name, *addresses]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
