"""Sends requests, one connection each, and prints the list of their source ports: run inside a network namespace.

Standard input: [{"kind", "ip", "port", "host", "method", "path", "headers", "sni"}]. What is answered does not matter.
"""
import json, socket, ssl, sys
from concurrent.futures import ThreadPoolExecutor


FIRST_PORT = 20000


def send(numbered):
    """Connections to different addresses may have the same ephemeral port: each gets one of its own."""
    number, request = numbered
    source = FIRST_PORT + number
    with socket.create_connection((request["ip"], request["port"]), timeout=20, source_address=("", source)) as s:
        s.settimeout(20)
        try:
            talk(s, request)
        except OSError:
            pass
        return source


def talk(s, request):
    if request["kind"] == "tls":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2", "http/1.1"])
        context.wrap_socket(s, server_hostname=request["sni"]).close()
        return
    if request["kind"] == "tcp":
        s.sendall(b"\x01\x02\x03\x04\r\n")
    else:
        lines = [f"{request['method']} {request['path']} HTTP/1.1", f"Host: {request['host']}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in request["headers"].items()]
        s.sendall(("\r\n".join(lines + ["Content-Length: 0", "", ""])).encode())
    while s.recv(65536):
        pass


with ThreadPoolExecutor(8) as pool:
    print(json.dumps(list(pool.map(send, enumerate(json.load(sys.stdin))))))
