import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { networkNamespace } from "./namespace.ts";

const TRIE = (address: string) =>
  `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 10.0.0.0
        /24 link UNICAST
     |-- ${address}
        /32 host LOCAL
`;

const FILES = {
  "/host/proc/1/net/fib_trie": TRIE("10.0.0.1"),
  "/host/proc/70/net/fib_trie": TRIE("10.0.0.22"),
  "/host/proc/71/net/fib_trie": TRIE("10.0.0.2"),
  "/host/proc/71/net/if_inet6": "fd000000000000000000000000000002 02 40 00 80     eth0\n",
  "/host/proc/72/net/if_inet6":
    "00000000000000000000000000000001 01 80 10 80       lo\nfd000000000000000000000000000003 02 40 00 80     eth0\n",
  "/host/proc/meminfo": "",
};

const CASES: readonly (readonly [address: string, expected: string | undefined])[] = [
  ["10.0.0.2", "/host/proc/71/ns/net"],
  ["10.0.0.22", "/host/proc/70/ns/net"],
  ["10.0.0.0", undefined],
  ["10.0.0.3", undefined],
  ["fd00::2", "/host/proc/71/ns/net"],
  ["fd00:0::3", "/host/proc/72/ns/net"],
  ["not an address", undefined],
];

for (const [address, expected] of CASES) {
  Deno.test(`the namespace with ${address}: ${expected ?? "none"}`, async () => {
    assert.equal(await networkNamespace(fakeWorld({ files: FILES }), "/host/proc", [address]), expected);
  });
}
