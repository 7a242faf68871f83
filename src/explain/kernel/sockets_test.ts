import assert from "node:assert/strict";
import { listeningSockets, socketsFor } from "./sockets.ts";

const PROC = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1337        0 1 1 0
   1: 0100007F:3A98 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1337        0 2 1 0
   2: 0B004D0A:1F91 0C004D0A:1F90 01 00000000:00000000 00:00000000 00000000  1337        0 3 1 0
  sl  local_address                         remote_address                        st tx_queue
   0: 00000000000000000000000000000000:2382 00000000000000000000000000000000:0000 0A 00000000:00000000 00
   1: 0000000000000000FFFF00000100007F:2383 00000000000000000000000000000000:0000 0A 00000000:00000000 00
`;

Deno.test("listeningSockets: of /proc/net/tcp and tcp6, which listen", () => {
  assert.deepEqual(
    listeningSockets(PROC).map(({ address, port, isWildcard, isLoopback }) => [address, port, isWildcard, isLoopback]),
    [
      ["0.0.0.0", 8080, true, false],
      ["127.0.0.1", 15000, false, true],
      ["::", 9090, true, false],
      ["127.0.0.1", 9091, false, true],
    ],
  );
});

Deno.test("listeningSockets: of ss -ltn", () => {
  const text =
    "State  Recv-Q Send-Q Local Address:Port Peer Address:Port\nLISTEN 0 128 127.0.0.1:8080 0.0.0.0:*\nLISTEN 0 128 *:9090 *:*\n" +
    "LISTEN 0 128 [::1]:9091 [::]:*\n";
  assert.deepEqual(listeningSockets(text).map(({ address, port }) => `${address} ${port}`), [
    "127.0.0.1 8080",
    ":: 9090",
    "::1 9091",
  ]);
});

Deno.test("socketsFor: the address itself, a wildcard of its family, and [::] for both", () => {
  const sockets = listeningSockets(PROC);
  assert.equal(socketsFor(sockets, "10.0.0.1", 8080).length, 1);
  assert.equal(socketsFor(sockets, "2001:db8::1", 8080).length, 0);
  assert.equal(socketsFor(sockets, "10.0.0.1", 9090).length, 1);
  assert.equal(socketsFor(sockets, "10.0.0.1", 15000).length, 0);
  assert.equal(socketsFor(sockets, "127.0.0.1", 15000).length, 1);
});
