"""Types into a shell on a terminal of its own, as a person does, and prints what stands on each line after a Tab.

terminal.py SETUP LINE... -- SHELL ARGS...; a LINE without the Tab at its end.
"""

import os
import pty
import re
import select
import sys

at = sys.argv.index("--")
setup, lines, command = sys.argv[1], sys.argv[2:at], sys.argv[at + 1 :]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
said = b""


def until(pattern):
    """Reads until the shell has said this; ends the test if it says nothing for a minute."""
    global said
    while True:
        found = re.search(pattern, said)
        if found:
            said = said[found.end() :]
            return found.group(1).decode()
        if not select.select([terminal], [], [], 60)[0]:
            sys.exit("The shell is silent after %r" % said[-2000:])
        said += os.read(terminal, 65536)


# The format, so that the echo of what is typed does not look like what it prints.
os.write(terminal, (setup + "\rprintf 'U%s<>\\n' P\r").encode())
until(rb"UP(<)>")
for line in lines:
    # Ctrl-A and Ctrl-E put the line into quotes.
    os.write(terminal, (line + "\t\x01printf 'LI%s<%s>\\n' NE '\x05'\r").encode())
    print(until(rb"LINE<([^>]*)>"))
os.close(terminal)
os.kill(child, 9)
os.waitpid(child, 0)
