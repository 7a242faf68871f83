import assert from "node:assert/strict";
import { parseConnections } from "./proc_net.ts";
import { addressText } from "../golang/net/mod.ts";
import type { Endpoint } from "./mod.ts";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue\n";

function endpointText({ address, port }: Endpoint): string {
  return `${address.family === 4 ? addressText(address) : `[${addressText(address)}]`}:${port}`;
}

function read(text: string) {
  return parseConnections(HEAD + text).map(({ local, remote, isListening }) =>
    `${endpointText(local)} ${endpointText(remote)} ${isListening}`
  );
}

Deno.test("parseConnections(): a listener and a connection", () => {
  const lines = "   0: 00000000:3A9E 00000000:0000 0A 00000000:00000000 00:00000000 0 1337 0 1\n" +
    "   1: 0100007F:3A99 0201000A:D431 01 00000000:00000000 00:00000000 0 1337 0 2\n";
  assert.deepEqual(read(lines), ["0.0.0.0:15006 0.0.0.0:0 true", "127.0.0.1:15001 10.0.1.2:54321 false"]);
});

Deno.test("parseConnections(): IPv6 addresses are 32-bit words in host byte order", () => {
  const line = "   0: B80D0120000000000000000001000000:3A9E 00000000000000000000000001000000:0050 03 0 0 0 0\n";
  assert.deepEqual(read(line), ["[2001:db8::1]:15006 [::1]:80 false"]);
});

Deno.test("parseConnections(): nothing", () => assert.deepEqual(parseConnections(""), []));
