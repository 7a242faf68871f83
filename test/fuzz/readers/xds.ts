/** Fuzzes messages from istiod: name tables and their stream, and the frames of Envoy's connection. */
import { buildLookup } from "../../../src/agent/dns/server/lookup.ts";
import { decodeResponse, tableIn } from "../../../src/agent/dns/table/messages.ts";
import { decodeNameTable, NAME_TABLE, nameTableJson } from "../../../src/agent/dns/table/name_table.ts";
import { BodyCounter, ConnectionCounter } from "../../../src/agent/xds/message_counter.ts";
import { requestForm, typeOf } from "../../../src/agent/xds/report_message.ts";
import { BinaryWriter } from "../../../src/base/protobuf.ts";
import { accepts, type FuzzReader, holds, isPlainError } from "../reader.ts";

const part = (field: number, bytes: Uint8Array) => new BinaryWriter().uint32(field << 3 | 2).bytes(bytes).finish();
const text = (field: number, value: string) => new BinaryWriter().uint32(field << 3 | 2).string(value).finish();
const all = (...parts: readonly Uint8Array[]) => new Uint8Array(parts.flatMap((each) => [...each]));

const INFO = all(
  text(1, "10.0.0.1"),
  text(1, "::1"),
  text(2, "Kubernetes"),
  text(3, "s"),
  text(4, "n"),
  text(5, "alt"),
);
const TABLE = part(1, all(text(1, "s.n.svc.cluster.local"), part(2, INFO)));
const ANY = all(text(1, NAME_TABLE), part(2, TABLE));
const WORLD = all(text(1, "v1"), part(2, ANY), text(4, NAME_TABLE), text(5, "nonce"));
export const XDS: FuzzReader = {
  name: "xds",
  seeds: [TABLE, WORLD, all(new Uint8Array([0, 0, 7, 0, 0, 0, 0, 0, 1]), new Uint8Array([0, 0, 0, 0, 2, 9, 9]))],
  words: [
    "\x0a",
    "\x12",
    "\x1a\x05",
    "\x22",
    "\x2a",
    "10.0.0.1",
    "::ffff:1.2.3.4",
    "*.x",
    NAME_TABLE,
    "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    "\0\0\x05\0\x08\0\0\0\x01",
  ],
  refuses: isPlainError,
  open: () => (input) => {
    checkCounters(input);
    const form = requestForm("/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources");
    if (form !== undefined) typeOf(form, input);
    const accepted = [
      () => readTable(decodeNameTable(input)),
      () => decodeResponse(input).resources.map(tableIn).map(decodeNameTable).forEach(readTable),
    ].map(accepts);
    return accepted.includes(true);
  },
};

function readTable(table: ReturnType<typeof decodeNameTable>): void {
  JSON.parse(nameTableJson(table));
  const lookup = buildLookup(table, { namespace: "n", domain: "n.svc.cluster.local" });
  for (const [name, host] of lookup) {
    holds(name.length <= 255, "a name is longer than DNS allows");
    holds(host.ipv4.length % 4 === 0 && host.ipv6.length % 16 === 0, "an address has a wrong width");
  }
}

/** Checks the counters of passing messages: they reject nothing, and count the same if the bytes arrive in pieces. */
function checkCounters(input: Uint8Array): void {
  for (const make of [() => new ConnectionCounter(0), () => new BodyCounter()]) {
    const cut = input.length >> 1;
    const pieces = make();
    const count = pieces.count(input.subarray(0, cut)) + pieces.count(input.subarray(cut));
    holds(make().count(input) === count, "the pieces of a connection change its count of messages");
  }
}
