"""Takes from a process what a decoder never needs: the network, writing files, starting programs, other processes.

    why_not = confine()  # "" if it worked

It installs a filter of system calls (Linux's seccomp) on x86-64 and 64-bit ARM. What is open stays usable, so a worker
first opens what it is to write. The filter lists what is refused, not what is allowed: the libraries of a decoder use
many calls, which change with their versions, and to refuse one that they need would cost a good file. Calls that are
newer than the list do not exist for a confined process, as on an older kernel.

It does not keep a process from reading files. What it reads can leave it only as its answer.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Sequence
from typing import NamedTuple

# System calls that are refused whatever their arguments: their numbers on x86-64, and on 64-bit ARM, which has fewer.
REFUSED = """
    socket:41/198 socketpair:53/199 connect:42/203 bind:49/200 listen:50/201 accept:43/202 accept4:288/242
    mq_open:240/180 mq_unlink:241/181 shmget:29/194 shmat:30/196 msgget:68/186 semget:64/190

    ptrace:101/117 process_vm_readv:310/270 process_vm_writev:311/271 process_madvise:440/440 tkill:200/130
    rt_sigqueueinfo:129/138 rt_tgsigqueueinfo:297/240 pidfd_open:434/434 pidfd_getfd:438/438 pidfd_send_signal:424/424
    execve:59/221 execveat:322/281 fork:57/- vfork:58/-

    creat:85/- truncate:76/45 open_by_handle_at:304/265 rename:82/- renameat:264/38 renameat2:316/276
    mkdir:83/- mkdirat:258/34 rmdir:84/- link:86/- linkat:265/37 unlink:87/- unlinkat:263/35
    symlink:88/- symlinkat:266/36 mknod:133/- mknodat:259/33
    chmod:90/- fchmod:91/52 fchmodat:268/53 chown:92/- fchown:93/55 lchown:94/- fchownat:260/54
    utime:132/- utimes:235/- futimesat:261/- utimensat:280/88
    setxattr:188/5 lsetxattr:189/6 fsetxattr:190/7 removexattr:197/14 lremovexattr:198/15 fremovexattr:199/16

    mount:165/40 umount2:166/39 pivot_root:155/41 chroot:161/51 open_tree:428/428 move_mount:429/429 fsopen:430/430
    fsconfig:431/431 fsmount:432/432 fspick:433/433 mount_setattr:442/442 swapon:167/224 swapoff:168/225 quotactl:179/60
    unshare:272/97 setns:308/268 setrlimit:160/164 bpf:321/280 perf_event_open:298/241 userfaultfd:323/282
    keyctl:250/219 add_key:248/217 request_key:249/218 reboot:169/142 kexec_load:246/104 kexec_file_load:320/294
    init_module:175/105 finit_module:313/273 delete_module:176/106 acct:163/89 settimeofday:164/170
    clock_settime:227/112 adjtimex:159/171 clock_adjtime:305/266 sethostname:170/161 setdomainname:171/162
    syslog:103/116 iopl:172/- ioperm:173/- modify_ldt:154/- vhangup:153/58 personality:135/92
"""
# What these would do is behind a pointer, which a filter cannot follow. Libraries know kernels that do not have them.
ABSENT = "clone3:435/435 openat2:437/437 io_uring_setup:425/425 io_uring_enter:426/426 io_uring_register:427/427"
# These depend on their arguments.
JUDGED = "open:2/- openat:257/56 clone:56/220 kill:62/129 tgkill:234/131 ioctl:16/29 prlimit64:302/261"
_NEWEST = 450  # that is known here

_TO_WRITE = 0o20001103  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC and the bit of O_TMPFILE
_CLONE_THREAD = 0x10000
_HARMLESS = (0x5401, 0x541B, 0x5421, 0x5450, 0x5451)  # TCGETS, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX

# Of <linux/filter.h>, <linux/seccomp.h> and <linux/prctl.h>.
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # where the filter finds them, in bytes
_SET_MODE_FILTER, _ALL_THREADS, _PR_SET_NO_NEW_PRIVS = 1, 1, 38


class Machine(NamedTuple):
    """A kind of processor."""

    audit: int  # its number in <linux/audit.h>
    column: int  # in the tables above
    seccomp: int  # the number of that system call

    def numbers(self, table: str) -> dict[str, int]:
        """Of those system calls in a table that the machine has, by name."""
        listed = (entry.split(":") for entry in table.split())
        found = {name: numbers.split("/")[self.column] for name, numbers in listed}
        return {name: int(number) for name, number in found.items() if number != "-"}


MACHINES = {"x86_64": Machine(0xC000003E, 0, 317), "aarch64": Machine(0xC00000B7, 1, 277)}


class Instruction(NamedTuple):
    """Of a filter. `then` and `otherwise`: how many of the next to skip."""

    code: int
    value: int
    then: int = 0
    otherwise: int = 0


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def confine() -> str:
    """Confine this process with all of its threads, for good. Returns why it could not, or ""."""
    machine = MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None or sys.maxsize < 2**32:
        return f"there is no filter of system calls for {platform.system()} on {platform.machine()}"
    program = filter_of(machine, os.getpid())
    packed = b"".join(struct.pack("=HBBI", code, then, other, value) for code, value, then, other in program)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # otherwise only root may install a filter
    loaded = ctypes.byref(_Program(len(program), packed))
    if libc.syscall(machine.seccomp, _SET_MODE_FILTER, _ALL_THREADS, loaded):
        return f"the kernel refuses a filter of system calls ({os.strerror(ctypes.get_errno())})"
    return ""


def filter_of(machine: Machine, process: int) -> list[Instruction]:
    """The filter for one process. What it returns is what happens to a system call."""
    judged = {
        "open": _refuse_bits(1, _TO_WRITE),
        "openat": _refuse_bits(2, _TO_WRITE),
        "clone": _allow_bits(0, _CLONE_THREAD),
        "kill": _allow_values(0, [process]),
        "tgkill": _allow_values(0, [process]),
        "ioctl": _allow_values(1, _HARMLESS, errno.ENOTTY),
        "prlimit64": [*_unless_zero(2, 0), *_unless_zero(2, 1), Instruction(RETURN, ALLOW)],  # may ask, not set
    }
    program = [
        Instruction(LOAD, MACHINE),
        *_case(EQUAL, machine.audit, [], otherwise=[Instruction(RETURN, KILL)]),  # numbers of another machine
        Instruction(LOAD, NUMBER),
        *_case(AT_LEAST, _NEWEST + 1, [_refuse(errno.ENOSYS)]),  # also those of x32
    ]
    for number in machine.numbers(ABSENT).values():
        program += _case(EQUAL, number, [_refuse(errno.ENOSYS)])
    for number in machine.numbers(REFUSED).values():
        program += _case(EQUAL, number, [_refuse()])
    for name, number in machine.numbers(JUDGED).items():
        program += _case(EQUAL, number, judged[name])
    return [*program, Instruction(RETURN, ALLOW)]


def _case(
    test: int, value: int, block: Sequence[Instruction], otherwise: Sequence[Instruction] = ()
) -> list[Instruction]:
    """One of two blocks; a first block that is not empty must return."""
    return [Instruction(test, value, 0 if block else len(otherwise), len(block)), *block, *otherwise]


def _argument(number: int, half: int = 0) -> Instruction:
    """Both machines keep the lower half first."""
    return Instruction(LOAD, ARGUMENTS + 8 * number + 4 * half)


def _refuse(error: int = errno.EPERM) -> Instruction:
    return Instruction(RETURN, ERRNO | error)


def _refuse_bits(argument: int, bits: int) -> list[Instruction]:
    return [_argument(argument), *_case(ANY_BIT, bits, [_refuse()]), Instruction(RETURN, ALLOW)]


def _allow_bits(argument: int, bits: int) -> list[Instruction]:
    return [_argument(argument), *_case(ANY_BIT, bits, [Instruction(RETURN, ALLOW)]), _refuse()]


def _allow_values(argument: int, values: Sequence[int], error: int = errno.EPERM) -> list[Instruction]:
    cases = [each for value in values for each in _case(EQUAL, value, [Instruction(RETURN, ALLOW)])]
    return [_argument(argument), *cases, _refuse(error)]


def _unless_zero(argument: int, half: int) -> list[Instruction]:
    return [_argument(argument, half), *_case(EQUAL, 0, [], otherwise=[_refuse()])]
