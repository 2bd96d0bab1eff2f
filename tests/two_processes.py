"""Two processes that do the same thing at once, each knowing its rank, as torchrun starts them."""

import multiprocessing
import socket
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

PATIENCE = 300  # seconds


class TwoProcesses:
    """They start with the first job and serve all later ones."""

    def __init__(self) -> None:
        self._pair: list[tuple[multiprocessing.Process, Connection]] = []

    def run(self, job: Callable[..., Any], *arguments: object) -> list[Any]:
        """job(rank, *arguments) in both at once: what each returned. Where one fails, both are ended."""
        if not self._pair:
            self._pair = [_start(rank) for rank in range(2)]
        for _, pipe in self._pair:
            pipe.send((job, arguments))
        answers: dict[int, Any] = {}
        while len(answers) < 2:
            pipes = {pipe: rank for rank, (_, pipe) in enumerate(self._pair) if rank not in answers}
            ready = wait(pipes, PATIENCE)
            for pipe in ready:
                try:
                    failure, answers[pipes[pipe]] = pipe.recv()
                except EOFError:
                    failure = "it died"
                if failure:
                    self.end()
                    raise AssertionError(f"process {pipes[pipe]}: {failure}")
            if not ready:
                self.end()
                raise AssertionError(f"no answer within {PATIENCE} s")
        return [answers[rank] for rank in range(2)]

    def end(self) -> None:
        for process, pipe in self._pair:
            process.kill()
            process.join()
            pipe.close()
        self._pair = []


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _start(rank: int) -> tuple[multiprocessing.Process, Connection]:
    context = multiprocessing.get_context("fork")  # so that they need not load torch
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(rank, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _serve(rank: int, pipe: Connection) -> None:
    while True:
        try:
            job, arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(("", job(rank, *arguments)))
        except BaseException:
            pipe.send((traceback.format_exc(), None))
