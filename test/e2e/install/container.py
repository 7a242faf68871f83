"""Starts a program as a container runtime would: in a root file system of its own, with few capabilities.

container.py JSON, with: root, uid, capabilities (numbers), writable (paths), arguments, environment. The network namespace is the
caller's. The root is read-only; /proc and /dev are mounted; new privileges are off; a seccomp filter refuses, with EPERM, most of the
system calls that Docker's default profile refuses to a container without CAP_SYS_ADMIN; it is a list of refused calls, not
Docker's list of allowed ones.
"""

import ctypes
import json
import os
import platform
import signal
import struct
import sys

want = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
root = want["root"]

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID = 0x20000, 0x4000000, 0x8000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38

# open_tree, move_mount, fsopen, fsconfig, fsmount, mount_setattr: the same numbers everywhere.
NEW = [428, 429, 430, 431, 432, 442]
# mount, umount2, pivot_root, swapon, swapoff, reboot, init_module, finit_module, delete_module, kexec_load, kexec_file_load, bpf,
# perf_event_open, keyctl, add_key, request_key, unshare, setns, acct, settimeofday, clock_settime, quotactl, open_by_handle_at,
# userfaultfd.
REFUSED = {
    "x86_64": (0xC000003E, [165, 166, 155, 167, 168, 169, 175, 313, 176, 246, 320, 321, 298, 250, 248, 249, 272, 308, 163, 164, 227, 179, 304, 323]),
    "aarch64": (0xC00000B7, [40, 39, 41, 224, 225, 142, 105, 273, 106, 104, 294, 280, 241, 219, 217, 218, 97, 268, 89, 170, 112, 60, 265, 282]),
}


def check(result, what):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, "%s: %s" % (what, os.strerror(error)))


def mount(source, target, kind, flags, data=""):
    check(libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()), "mount " + target)


def filter_calls():
    """Allows all system calls of this architecture but the refused ones."""
    architecture, refused = REFUSED[platform.machine()]
    numbers = refused + NEW
    lines = [(0x20, 0, 0, 4), (0x15, 1, 0, architecture), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]
    for at, number in enumerate(numbers):
        lines.append((0x15, len(numbers) - at, 0, number))
    lines += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code))
    check(libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0), "seccomp")


def drop(uid, kept):
    """Leaves these capabilities alone; another user has none in effect."""
    for capability in range(64):
        if capability not in kept and libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    mask = sum(1 << capability for capability in kept) if uid == 0 else 0
    header = struct.pack("Ii", 0x20080522, 0)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    check(libc.capset(header, struct.pack("6I", low, low, 0, high, high, 0)), "capset")
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def prepare():
    mount("none", "/", "", MS_REC | MS_PRIVATE)
    mount(root, root, "", MS_BIND | MS_REC)
    mount("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount("tmpfs", root + "/dev", "tmpfs", MS_NOSUID, "mode=755")
    for name in ["null", "zero", "random", "urandom"]:
        open(root + "/dev/" + name, "w").close()
        mount("/dev/" + name, root + "/dev/" + name, "", MS_BIND)
    for path in want["writable"]:
        os.makedirs(root + path, exist_ok=True)
        mount("tmpfs", root + path, "tmpfs", MS_NOSUID | MS_NODEV, "uid=%d,gid=%d" % (want["uid"], want["uid"]))
    for path, source in want["files"].items():
        # As runtimes do, for what the image lacks.
        if os.path.isdir(source):
            os.makedirs(root + path, exist_ok=True)
        else:
            open(root + path, "a").close()
        mount(source, root + path, "", MS_BIND)
    mount("none", root, "", MS_REMOUNT | MS_BIND | MS_RDONLY)


check(libc.unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID), "unshare")
child = os.fork()
if child == 0:
    check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    prepare()
    os.chroot(root)
    os.chdir("/")
    drop(want["uid"], want["capabilities"])
    filter_calls()
    os.execve(want["arguments"][0], want["arguments"], want["environment"])
for name in [signal.SIGTERM, signal.SIGINT]:
    signal.signal(name, lambda number, _: os.kill(child, number))
status = os.waitpid(child, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) % 256)
