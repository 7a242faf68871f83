import assert from "node:assert/strict";
import { SystemError } from "../../../platform/mod.ts";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { encode } from "../netlink.ts";
import { deleteEmptyTables, nftChains, nftTables } from "./tables.ts";

const SUBSYSTEM = 10 << 8;

function name(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}

/** The messages of an answer, with the final one. */
function answer(messages: readonly Uint8Array[]): Uint8Array {
  const end = encode({ protocol: 12, type: 3, flags: 0, header: new Uint8Array(4) });
  return Uint8Array.from([...messages, end].flatMap((message) => [...message]));
}

function table(family: number, text: string): Uint8Array {
  return encode({
    protocol: 12,
    type: SUBSYSTEM,
    flags: 2,
    header: Uint8Array.of(family, 0, 0, 0),
    attributes: [[1, name(text)]],
  });
}

function chain(text: string, uses: number, isBase: boolean): Uint8Array {
  return encode({
    protocol: 12,
    type: SUBSYSTEM | 3,
    flags: 2,
    header: Uint8Array.of(2, 0, 0, 0),
    attributes: [
      [1, name("nat")],
      [3, name(text)],
      [6, Uint8Array.of(0, 0, 0, uses)],
      ...(isBase ? [[4, new Uint8Array(8)] as const] : []),
    ],
  });
}

/** A kernel with these chains, which records all other requests. */
function kernel(chains: readonly Uint8Array[], sent: Uint8Array[] = []) {
  return fakeWorld({
    system: {
      netlink: (_, message) => {
        const type = new DataView(message.buffer, message.byteOffset).getUint16(4, true);
        if (type === (SUBSYSTEM | 1)) return answer([table(2, "nat"), table(1, "istio-proxy-nat")]);
        if (type === (SUBSYSTEM | 4)) return answer(chains);
        sent.push(message);
        return answer([]);
      },
    },
  }).system;
}

Deno.test("nftTables: families and names", () => {
  assert.deepEqual([...nftTables(kernel([]))], ["ip nat", "inet istio-proxy-nat"]);
});

Deno.test("nftTables: throws the error of the kernel without the capability", () => {
  const refusal = encode({ protocol: 12, type: 2, flags: 0, header: new Uint8Array(Int32Array.of(-1).buffer) });
  const { system } = fakeWorld({ system: { netlink: () => refusal } });
  assert.throws(() => nftTables(system), (error: SystemError) => error instanceof SystemError && error.errno === 1);
});

Deno.test("nftChains: base chains and use counts", () => {
  assert.deepEqual(nftChains(kernel([chain("OUTPUT", 2, true), chain("ISTIO_OUTPUT", 3, false)])), [
    { table: "ip nat", name: "OUTPUT", isBase: true, accepts: true, uses: 2 },
    { table: "ip nat", name: "ISTIO_OUTPUT", isBase: false, accepts: true, uses: 3 },
  ]);
});

Deno.test("deleteEmptyTables: chains and table in one batch, only if they are empty", () => {
  const sent: Uint8Array[] = [];
  assert.deepEqual(deleteEmptyTables(kernel([chain("OUTPUT", 0, true)], sent), ["ip nat"]), ["ip nat"]);
  assert.equal(sent.length, 1);
  assert.deepEqual(deleteEmptyTables(kernel([chain("OUTPUT", 1, true)], sent), ["ip nat"]), []);
  assert.deepEqual(deleteEmptyTables(kernel([chain("OTHER", 0, false)], sent), ["ip nat"]), []);
  assert.equal(sent.length, 1);
});
