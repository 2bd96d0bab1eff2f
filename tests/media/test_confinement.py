"""The filter of system calls, run by hand: what it returns for each call, on both machines."""

import errno
import re
from pathlib import Path

import pytest

from mmcc.media.confinement import (
    ABSENT,
    ALLOW,
    ANY_BIT,
    ARGUMENTS,
    AT_LEAST,
    EQUAL,
    ERRNO,
    JUDGED,
    KILL,
    LOAD,
    MACHINE,
    MACHINES,
    NUMBER,
    REFUSED,
    RETURN,
    Instruction,
    Machine,
    filter_of,
)

PROCESS = 4711
REFUSE, NO_SUCH_CALL, NOT_A_TERMINAL = (ERRNO | number for number in (errno.EPERM, errno.ENOSYS, errno.ENOTTY))
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
EACH = pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)


def outcome(program: list[Instruction], machine: Machine, number: int, *arguments: int) -> int:
    """What the kernel would do: one instruction after the other, jumps counted from the next."""
    data = {NUMBER: number, MACHINE: machine.audit}
    for place in range(6):
        value = arguments[place] if place < len(arguments) else 0
        data[ARGUMENTS + 8 * place], data[ARGUMENTS + 8 * place + 4] = value & 0xFFFFFFFF, value >> 32
    loaded, at = 0, 0
    tests = {EQUAL: int.__eq__, AT_LEAST: int.__ge__, ANY_BIT: lambda word, bits: bool(word & bits)}
    while True:
        code, value, then, otherwise = program[at]
        if code == RETURN:
            return value
        if code == LOAD:
            loaded, skipped = data[value], 0
        else:
            skipped = then if tests[code](loaded, value) else otherwise
        at += 1 + skipped


@EACH
def test_every_listed_call_is_refused_and_no_other(machine):
    program = filter_of(machine, PROCESS)
    refused, absent = (set(machine.numbers(table).values()) for table in (REFUSED, ABSENT))
    judged = set(machine.numbers(JUDGED).values())
    for number in range(600):
        if number in judged:
            continue
        expected = REFUSE if number in refused else NO_SUCH_CALL if number in absent or number > 450 else ALLOW
        assert outcome(program, machine, number) == expected, number


@EACH
def test_what_depends_on_arguments(machine):
    program, numbers = filter_of(machine, PROCESS), machine.numbers(JUDGED)

    def call(name: str, *arguments: int) -> int:
        return outcome(program, machine, numbers[name], *arguments)

    assert call("openat", 0, 0, 0o2000000) == ALLOW  # O_RDONLY | O_CLOEXEC
    for flags in (0o1, 0o2, 0o100, 0o1000, 0o2001, 0o20000000):
        assert call("openat", 0, 0, flags) == REFUSE, oct(flags)
    assert call("clone", 0x3D0F00) == ALLOW and call("clone", 0x1200011) == REFUSE  # a thread, and a process
    for name in ("kill", "tgkill"):
        assert call(name, PROCESS, 6) == ALLOW
        assert [call(name, other, 6) for other in (PROCESS + 1, 0, 1, 0xFFFFFFFF)] == [REFUSE] * 4
    assert call("ioctl", 1, 0x5401) == ALLOW and call("ioctl", 1, 0x5412) == NOT_A_TERMINAL  # TCGETS, TIOCSTI
    assert call("prlimit64", 0, 9, 0, 1 << 40) == ALLOW
    assert call("prlimit64", 0, 9, 1 << 40) == call("prlimit64", 0, 9, 8) == REFUSE


def test_open_on_the_machine_that_has_it():
    machine = MACHINES["x86_64"]
    program = filter_of(machine, PROCESS)
    assert outcome(program, machine, 2, 0, 0) == ALLOW and outcome(program, machine, 2, 0, 0o102) == REFUSE
    assert outcome(program, machine, 0x40000000 | 41) == NO_SUCH_CALL  # socket, as x32 calls it


@EACH
def test_the_numbers_of_another_machine_end_the_process(machine):
    assert outcome(filter_of(machine, PROCESS), machine._replace(audit=0x40000003), 0) == KILL


@pytest.mark.parametrize("name", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(name):
    if not HEADERS[name].exists():
        pytest.skip("the kernel's headers are not installed")
    defined = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", HEADERS[name].read_text())
    known = {call: int(number) for call, number in defined}
    for table in (REFUSED, ABSENT, JUDGED):
        for call, number in MACHINES[name].numbers(table).items():
            assert known[call] == number, call
    missing = {call.split(":")[0] for call in (REFUSED + JUDGED).split()} - MACHINES[name].numbers(
        REFUSED + JUDGED
    ).keys()
    assert not missing & known.keys()
