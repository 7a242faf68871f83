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

const UID = "6f0c1c1e-0000-4000-8000-0000000000aa";

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
    assert.equal(
      await networkNamespace(fakeWorld({ files: FILES }), "/host/proc", { uid: UID, addresses: [address] }),
      expected,
    );
  });
}

/** A process of another pod can make a namespace with this pod's address, and may come first. */
Deno.test("a process of another pod with the pod's address does not count", async () => {
  const other = "6f0c1c1e-0000-4000-8000-0000000000bb";
  const slice = (uid: string) => `kubepods-besteffort-pod${uid.replaceAll("-", "_")}.slice`;
  const hostile = {
    "/host/proc/60/net/fib_trie": TRIE("10.0.0.2"),
    "/host/proc/60/cgroup": `0::/../../${slice(other)}/cri-containerd-1.scope\n`,
    // A process that may make groups inside its own can give them any name.
    "/host/proc/61/net/fib_trie": TRIE("10.0.0.2"),
    "/host/proc/61/cgroup": `0::/../../${slice(other)}/${slice(UID)}\n`,
  };
  const found = (files: Record<string, string>) =>
    networkNamespace(fakeWorld({ files }), "/host/proc", { uid: UID, addresses: ["10.0.0.2"] });
  assert.equal(await found(hostile), undefined);
  assert.equal(await found({ ...FILES, ...hostile }), "/host/proc/71/ns/net");
  const own = {
    "/host/proc/90/net/fib_trie": TRIE("10.0.0.2"),
    "/host/proc/90/cgroup": `12:pids:/kubepods/burstable/pod${UID}/1\n0::/kubepods/burstable/pod${UID}/1\n`,
  };
  assert.equal(await found({ ...FILES, ...hostile, ...own }), "/host/proc/90/ns/net");
});
