"""Runs a command on a terminal of its own, types Ctrl-C when it says "up", and prints what it said and its exit code."""

import os
import pty
import select
import sys

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b""
typed = False
while select.select([terminal], [], [], 30)[0]:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    said += data
    if b"up\r\n" in said and not typed:
        typed = True
        os.write(terminal, b"\x03")
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.stdout.write(said.decode().replace("\r\n", "\n"))
sys.stdout.write("code %d\n" % code)
