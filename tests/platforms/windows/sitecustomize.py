"""Makes Python on Linux behave like Python on Windows, as far as uqcli can notice.

With this folder in ``PYTHONPATH``, an interpreter starts without the modules, functions, flags and signals
that CPython does not have on Windows. Files that the process has open or mapped can be neither replaced nor
removed, folders cannot be opened, and everybody may write every file. Standard output and error have the code
page 1252 and two characters at the end of a line. ``SIMULATION_LOG`` names a file that gets a line for each
refused change of an open file.

It cannot show what only Windows does: its paths, its loader of machine code, the locks of other processes.
"""

import errno
import fcntl
import os
import select
import shutil
import signal
import stat
import struct
import subprocess  # noqa: F401  with those below, while the names that they need are there
import sys
import tempfile
import threading  # noqa: F401
import types
from multiprocessing import util  # noqa: F401
from pathlib import Path

IOCTL_BYTES_WAITING = 0x541B

MODULES = "_curses curses fcntl grp pty pwd readline resource syslog termios tty"
FUNCTIONS = """
chown confstr copy_file_range fchown fdatasync fork forkpty fstatvfs getegid geteuid getgid getgroups
getloadavg getpgid getpgrp getpriority getuid killpg lchown lockf memfd_create mkfifo mknod nice openpty
pipe2 posix_fadvise posix_fallocate pread preadv pwrite pwritev sched_getaffinity sendfile setgid setpgid
setpriority setsid setuid statvfs sync sysconf ttyname wait wait3 wait4
"""
FLAGS = """
O_ASYNC O_CLOEXEC O_DIRECT O_DIRECTORY O_DSYNC O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC
O_TMPFILE
"""
SIGNALS = "SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM"
SIGNAL_FUNCTIONS = """
alarm getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigtimedwait sigwait
sigwaitinfo
"""
HANDLED = {int(getattr(signal, name)) for name in SIGNALS.split()}
HOOKS = "SIG_DFL SIG_IGN"


def locking(descriptor, mode, size):
    """Lock like msvcrt; a lock of another run is a lack of permission."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_UN if mode == msvcrt.LK_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None


def peek(handle, size):
    """Return the bytes that wait in a pipe, like ``_winapi.PeekNamedPipe``."""
    if not stat.S_ISFIFO(original.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, "The handle is invalid")
    waiting = struct.unpack("i", fcntl.ioctl(handle, IOCTL_BYTES_WAITING, b"\0" * 4))[0]
    if not waiting and poll_ended(handle):
        raise BrokenPipeError(errno.EPIPE, "The pipe has been ended")
    return waiting, 0


def poll_ended(descriptor, poll=select.poll, hung_up=select.POLLHUP):
    """Whether all writers of a pipe have closed it."""
    waiting = poll()
    waiting.register(descriptor, hung_up)
    return bool(waiting.poll(0))


original = types.SimpleNamespace(
    **{
        name: getattr(os, name)
        for name in ["fstat", "listdir", "open", "rename", "replace", "stat", "unlink"]
    },
    wakeup=signal.set_wakeup_fd,
    set_blocking=os.set_blocking,
    select=select.select,
)
msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_UNLCK, msvcrt.LK_LOCK, msvcrt.LK_NBLCK = 0, 1, 2
msvcrt.locking, msvcrt.get_osfhandle = locking, lambda descriptor: descriptor
winapi = types.ModuleType("_winapi")
winapi.PeekNamedPipe = peek


def wait_for_sockets(readers, writers, others, timeout=None):
    """Wait like ``select`` of Windows, which knows sockets only."""
    for stream in (*readers, *writers, *others):
        number = stream if isinstance(stream, int) else stream.fileno()
        if not stat.S_ISSOCK(original.fstat(number).st_mode):
            raise OSError(errno.ENOTSOCK, "An operation was attempted on something that is not a socket")
    return original.select(readers, writers, others, timeout)


def set_wakeup(descriptor, **options):
    """Set the descriptor, which Windows does not ask to be non-blocking."""
    if descriptor >= 0:
        original.set_blocking(descriptor, False)
    return original.wakeup(descriptor, **options)


def set_signal(number, handler, plain=signal.signal):
    """Set a handler of a signal that exists."""
    if int(number) not in HANDLED:
        raise ValueError("invalid signal value")
    return plain(number, handler)


def is_open(path):
    """Whether this process has a descriptor or a mapping of a regular file."""
    try:
        status = original.stat(path)
    except OSError:
        return False
    if not stat.S_ISREG(status.st_mode):
        return False
    for descriptor in original.listdir("/proc/self/fd"):
        try:
            opened = original.fstat(int(descriptor))
        except OSError:
            continue
        if (opened.st_dev, opened.st_ino) == (status.st_dev, status.st_ino):
            return True
    mappings = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines()
    return any(line.split(maxsplit=5)[4:5] == [str(status.st_ino)] for line in mappings)


def refuse_if_open(verb, path):
    """Refuse to change an open file."""
    if is_open(path):
        if "SIMULATION_LOG" in os.environ:
            with Path(os.environ["SIMULATION_LOG"]).open("a", encoding="utf-8") as log:
                log.write(f"{verb} {os.fsdecode(path)}\n")
        raise PermissionError(errno.EACCES, "The file is being used by another process", path)


def unlink(path, *, dir_fd=None):
    refuse_if_open("unlink", path)
    return original.unlink(path, dir_fd=dir_fd)


def replace(source, target, **options):
    refuse_if_open("replace", source)
    refuse_if_open("replace", target)
    return original.replace(source, target, **options)


def rename(source, target, **options):
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", target)
    refuse_if_open("rename", source)
    return original.rename(source, target, **options)


def open_file(path, flags, mode=0o777, *, dir_fd=None):
    try:
        is_folder = stat.S_ISDIR(original.stat(path).st_mode)
    except OSError:
        is_folder = False
    if is_folder:
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return original.open(path, flags, mode, dir_fd=dir_fd)


def with_windows_mode(status_of):
    """Return a status without an owner, and with the write bits that all files have on Windows."""

    def status(*arguments, **options):
        real = status_of(*arguments, **options)
        fields = list(real)
        fields[0] |= 0o777 if stat.S_ISDIR(real.st_mode) else 0o666
        fields[4] = fields[5] = 0
        times = {name: getattr(real, name) for name in ("st_atime_ns", "st_mtime_ns", "st_ctime_ns")}
        return os.stat_result(fields, times)

    return status


def remove_names():
    """Remove what CPython does not have on Windows."""
    sys.modules.update(dict.fromkeys(MODULES.split()))
    sys.modules.update({"msvcrt": msvcrt, "_winapi": winapi})
    absent = [(os, name) for name in (*FUNCTIONS.split(), *FLAGS.split())]
    absent += [(os, "set_blocking")] if sys.version_info < (3, 12) else []
    absent += [(os, "fchmod")] if sys.version_info < (3, 13) else []
    absent += [
        (signal, name)
        for name in vars(signal)
        if name in SIGNAL_FUNCTIONS.split()
        or (name.startswith(("SIG", "ITIMER_")) and name not in f"{SIGNALS} {HOOKS}".split())
    ]
    absent += [(signal, "Sigmasks")] if hasattr(signal, "Sigmasks") else []
    absent += [
        (select, name)
        for name in vars(select)
        if name in ("poll", "epoll", "PIPE_BUF") or name.startswith(("POLL", "EPOLL"))
    ]
    for module, name in absent:
        if hasattr(module, name):
            delattr(module, name)
    tempfile.TemporaryFile = tempfile.NamedTemporaryFile
    shutil._use_fd_functions = shutil._USE_CP_SENDFILE = shutil.rmtree.avoids_symlink_attacks = False
    for name in ("HOME", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)


def change_functions():
    """Give functions the behaviour that they have on Windows."""
    signal.signal, signal.set_wakeup_fd, select.select = set_signal, set_wakeup, wait_for_sockets
    os.unlink = os.remove = unlink
    os.replace, os.rename, os.open = replace, rename, open_file
    os.stat, os.lstat, os.fstat = map(with_windows_mode, (os.stat, os.lstat, os.fstat))
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(encoding="cp1252", newline="\r\n")


remove_names()
change_functions()
