"""Listeners that say where a connection arrived, and clients of any user: run inside a network namespace.

serve JSON   {"tcp": [ports], "udp": [ports], "transparent": [ports], "uid", "loopback"}: listens for IPv4 and IPv6 as
             that user, answers each connection with one line of JSON, prints "ready"; ends when its stdin does.
ask          reads lines of [{"uid", "gid", "protocol", "host", "port"}]: makes each connection and prints the list of
             answers as a line; an answer is null where none came.
"""
import ipaddress, json, os, selectors, socket, struct, sys

SO_ORIGINAL_DST = 80
ANY = ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"))
LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


def listener(family, address, kind, port, transparent):
    s = socket.socket(family, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    if transparent:
        if family == socket.AF_INET: s.setsockopt(socket.SOL_IP, 19, 1)
        else: s.setsockopt(socket.IPPROTO_IPV6, 75, 1)
    s.bind((address, port))
    if kind == socket.SOCK_STREAM: s.listen(64)
    s.setblocking(False)
    return s


def original(connection, family):
    try:
        if family == socket.AF_INET:
            port, address = struct.unpack("!2xH4s8x", connection.getsockopt(socket.SOL_IP, SO_ORIGINAL_DST, 16))
        else:
            port, address = struct.unpack("!2xH4x16s4x", connection.getsockopt(socket.IPPROTO_IPV6, SO_ORIGINAL_DST, 28))
        return [str(ipaddress.ip_address(address)), port]
    except OSError:
        return list(connection.getsockname()[:2])


def serve(spec):
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ, None)

    def listen(kind, ports, transparent=False):
        for family, address in LOOPBACK if spec.get("loopback") else ANY:
            for port in ports:
                s = listener(family, address, kind, port, transparent)
                selector.register(s, selectors.EVENT_READ, (family, kind, port))

    # Only root may ask for transparency; what it accepts is then the user's, as its other sockets are.
    listen(socket.SOCK_STREAM, spec.get("transparent", []), True)
    become(spec.get("uid", 0), spec.get("uid", 0))
    listen(socket.SOCK_STREAM, spec.get("tcp", []))
    listen(socket.SOCK_DGRAM, spec.get("udp", []))
    os.write(1, b"ready\n")
    while True:
        for key, _ in selector.select():
            if key.data is None: return
            try: answer(key.fileobj, *key.data)
            except OSError: pass


def answer(s, family, kind, port):
    if kind == socket.SOCK_DGRAM:
        _, peer = s.recvfrom(512)
        s.sendto(json.dumps({"port": port}).encode(), peer)
        return
    connection, peer = s.accept()
    with connection:
        connection.setblocking(True)
        said = {"port": port, "original": original(connection, family), "peer": peer[0]}
        connection.sendall(json.dumps(said).encode() + b"\n")


def connect(request):
    family = socket.AF_INET6 if ":" in request["host"] else socket.AF_INET
    kind = socket.SOCK_DGRAM if request.get("protocol") == "udp" else socket.SOCK_STREAM
    with socket.socket(family, kind) as s:
        s.settimeout(request.get("seconds", 2))
        s.connect((request["host"], request["port"]))
        if kind == socket.SOCK_DGRAM: s.send(b"who")
        data = b""
        while part := s.recv(4096):
            data += part
            if kind == socket.SOCK_DGRAM: break
        return json.loads(data)


def become(uid, gid):
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def ask_as(request):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            become(request.get("uid", 0), request.get("gid", request.get("uid", 0)))
            os.write(writer, json.dumps(connect(request)).encode())
        except (OSError, ValueError):
            os.write(writer, b"null")
        os._exit(0)
    os.close(writer)
    return reader


def ask():
    for line in sys.stdin:
        readers = [ask_as(request) for request in json.loads(line)]
        answers = []
        for reader in readers:
            with os.fdopen(reader) as pipe: answers.append(json.loads(pipe.read()))
        print(json.dumps(answers), flush=True)
        while True:
            try: os.wait()
            except ChildProcessError: break


if sys.argv[1] == "serve": serve(json.loads(sys.argv[2]))
else: ask()
