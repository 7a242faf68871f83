import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { getLogger } from "@logtape/logtape";
import assert from "node:assert/strict";
import { answersOf, askUdp, decoded, questionBytes } from "../../../../test/support/dns/client.ts";
import { AROUND, dnsWorld } from "../../../../test/support/dns/server.ts";
import { until } from "../../../../test/support/until.ts";
import type { GrpcRequest, GrpcStream } from "../../grpc/mod.ts";
import { startDns } from "../mod.ts";
import { readMessage } from "../../../base/protobuf.ts";
import { NAME_TABLE } from "./name_table.ts";

function hostsOf(dns: { tableJson(): string | undefined }): string[] {
  return Object.keys(JSON.parse(dns.tableJson() ?? "{}").table ?? {});
}

/** A message of fields, each a number and bytes or a text. */
function message(...fields: readonly (readonly [number, string | Uint8Array])[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [field, value] of fields) {
    const tagged = writer.tag(field, WireType.LengthDelimited);
    if (typeof value === "string") tagged.string(value);
    else tagged.bytes(value);
  }
  return writer.finish();
}

function tableBytes(hosts: Readonly<Record<string, readonly string[]>>): Uint8Array {
  return message(
    ...Object.entries(hosts).map(([host, ips]) => {
      const info = message(...ips.map((ip) => [1, ip] as const), [2, "External"]);
      return [1, message([1, host], [2, info])] as const;
    }),
  );
}

const any = (bytes: Uint8Array, type = NAME_TABLE) => message([1, type], [2, bytes]);
const state = (nonce: string, ...tables: Uint8Array[]) =>
  message([1, `v${nonce}`], ...tables.map((bytes) => [2, any(bytes)] as const), [4, NAME_TABLE], [5, nonce]);

/** What a request says, by the names of its fields. */
function requestOf(bytes: Uint8Array): Record<string, string> {
  const names = { 1: "version", 2: "node", 4: "type", 5: "nonce", 6: "problem" };
  const read: Record<string, string> = {};
  readMessage(
    bytes,
    Object.fromEntries(
      Object.entries(names).map(([field, name]) =>
        [field, (reader: { bytes(): Uint8Array }) => read[name] = new TextDecoder().decode(reader.bytes())] as const
      ),
    ),
  );
  return read;
}

/** A control plane in memory: each stream that is opened is played by the test. */
function controlPlane() {
  const opened: GrpcRequest[] = [];
  const requests: Record<string, string>[] = [];
  let waiting: ((bytes: Uint8Array | Error | undefined) => void) | undefined;
  const queue: (Uint8Array | Error | undefined)[] = [];
  const open = (_network: unknown, request: GrpcRequest): Promise<GrpcStream> => {
    opened.push(request);
    async function* messages() {
      for (;;) {
        const next = queue.length > 0 ? queue.shift() : await new Promise<Uint8Array | Error | undefined>((resolve) => {
          waiting = resolve;
          request.signal.addEventListener("abort", () => resolve(undefined), { once: true });
        });
        if (next instanceof Error) throw next;
        if (next === undefined) return;
        yield next;
      }
    }
    const send = (bytes: Uint8Array) => Promise.resolve(void requests.push(requestOf(bytes)));
    return Promise.resolve({ send, messages, close: () => {} });
  };
  const push = (next: Uint8Array | Error | undefined) => {
    const take = waiting;
    waiting = undefined;
    if (take === undefined) queue.push(next);
    else take(next);
  };
  return { opened, requests, open, push };
}

async function started(wait = 5) {
  const plane = controlPlane();
  const base = dnsWorld("nameserver 127.0.0.1\n");
  base.content.set("/token", new TextEncoder().encode("first"));
  const sleep: typeof base.clock.sleep = (_ms, signal) => base.clock.sleep(wait, signal);
  const world = { ...base, clock: { ...base.clock, sleep } };
  const certificates = { current: "none" };
  const dns = await startDns(world, {
    ...AROUND,
    address: "localhost:0",
    isParallel: false,
    upstreamTimeout: 5000,
    log: getLogger(["test", "dns"]),
    table: {
      node: {
        id: "sidecar~10.0.0.1~web.ns1~ns1.svc.cluster.local",
        cluster: "web.ns1",
        metadata: { NAMESPACE: "ns1", DEEP: { list: [1, true, null, "x"] } },
        locality: { region: "r", zone: "z", subZone: "" },
      },
      endpoint: () => ({ address: certificates.current, tls: undefined }),
      tokenFile: "/token",
      headers: { clusterid: "Kubernetes" },
      open: plane.open,
    },
  });
  const rcode = async (name: string) => decoded(await askUdp(dns.port, questionBytes(name))).rcode;
  const first = async (name: string) => answersOf(decoded(await askUdp(dns.port, questionBytes(name))));
  const shown = () => dns.tableJson() ?? "{}";
  return { ...plane, dns, shown, rcode, first, certificates, base, [Symbol.asyncDispose]: () => dns.close() };
}

Deno.test("a name table: request, update, ACK, NACK", async () => {
  await using run = await started();
  const { dns, requests, opened, push } = run;
  await until(() => requests.length === 1, "There was no sign of the first request");
  assert.match(opened[0]?.method ?? "", /\/StreamAggregatedResources$/);
  assert.deepEqual(opened[0]?.headers, { clusterid: "Kubernetes", authorization: "Bearer first" });
  assert.equal(requests[0]?.type, NAME_TABLE);
  const [{ node = "" } = {}] = requests;
  for (const part of ["sidecar~10.0.0.1~web.ns1~ns1.svc.cluster.local", "NAMESPACE", "DEEP"]) {
    assert.ok(node.includes(part));
  }
  assert.deepEqual([dns.isReady(), dns.tableJson()], [false, undefined]);
  assert.match(String(dns.problem()), /no name table yet/);
  assert.equal(await run.rcode("a.example"), "SERVFAIL");

  push(state("1", tableBytes({ "a.example": ["1.1.1.1"], "b.example": [] })));
  await until(() => requests.length === 2, "There was no sign of the acknowledgement");
  assert.deepEqual(requests[1], { version: "v1", type: NAME_TABLE, nonce: "1" });
  assert.deepEqual([dns.isReady(), dns.problem()], [true, undefined]);
  assert.deepEqual(await run.first("a.example"), ["a.example A 1.1.1.1 30"]);
  const shown = '{"table":{"a.example":{"ips":["1.1.1.1"],"registry":"External"},"b.example":{"registry":"External"}}}';
  assert.equal(run.shown(), shown);

  push(state("2", Uint8Array.of(0x0a, 0x7f, 1)));
  await until(() => requests.length === 3, "There was no sign of the refusal");
  assert.equal(requests[2]?.nonce, "2");
  assert.match(requests[2]?.problem ?? "", /.../);
  assert.equal(requests[2]?.version, "v1");
  assert.match(String(dns.problem()), /rejected/);
  assert.equal(run.shown(), shown);
});

Deno.test("a table stays in force while disconnected, and the next stream starts fresh", async () => {
  await using run = await started();
  const { dns, requests, opened, push } = run;
  push(state("1", tableBytes({ "a.example": ["1.1.1.1"] })));
  await until(() => requests.length === 2, "There was no sign of the acknowledgement");
  run.base.content.set("/token", new TextEncoder().encode("second\n"));
  run.certificates.current = "renewed";
  push(new Error("the connection broke"));
  await until(() => opened.length === 2 && requests.length === 3, "There was no sign of another stream");
  assert.equal(opened[1]?.headers["authorization"], "Bearer second");
  assert.equal(opened[1]?.endpoint.address, "renewed");
  assert.ok(requests[2]?.node !== undefined);
  assert.match(dns.problem() ?? "", /the connection broke/);
  assert.deepEqual(await run.first("a.example"), ["a.example A 1.1.1.1 30"]);

  push(state("9", tableBytes({ "c.example": ["3.3.3.3"] })));
  await until(() => dns.problem() === undefined, "There was no sign of the new table");
  assert.deepEqual(await run.first("c.example"), ["c.example A 3.3.3.3 30"]);
  assert.equal(await run.rcode("a.example"), "SERVFAIL");
});

Deno.test("retry() ends the wait for the next stream, and does nothing while one is open", async () => {
  await using run = await started(600_000);
  run.push(new Error("nobody is there"));
  await until(() => run.dns.problem() === "nobody is there", "There was no sign of the failure");
  run.dns.retry();
  await until(() => run.opened.length === 2, "There was no sign of another stream");
  run.dns.retry();
  run.push(state("1", tableBytes({ "a.example": ["1.1.1.1"] })));
  await until(() => run.dns.isReady(), "There was no sign of a table");
  assert.equal(run.opened.length, 2);
});

Deno.test("the names of several resources are used together, and a new response replaces them all", async () => {
  await using run = await started();
  run.push(state("1", tableBytes({ "a.example": ["1.1.1.1"] }), tableBytes({ "b.example": ["2.2.2.2"] })));
  await until(() => hostsOf(run.dns).length === 2, "There was no sign of two tables");
  run.push(state("2", tableBytes({ "c.example": ["3.3.3.3"] })));
  await until(() => hostsOf(run.dns).length === 1, "There was no sign of one table");
  assert.deepEqual(hostsOf(run.dns), ["c.example"]);
  run.push(state("3", tableBytes({})));
  await until(() => hostsOf(run.dns).length === 0, "There was no sign of none");
  assert.equal(run.dns.tableJson(), "{}");
});

Deno.test("an empty first response is an empty table; a later one changes nothing", async () => {
  await using run = await started();
  run.push(state("1"));
  await until(() => run.dns.isReady(), "There was no sign of a table");
  run.push(state("2", tableBytes({ "a.example": ["1.1.1.1"] })));
  run.push(state("3"));
  await until(() => run.requests.length === 4, "There was no sign of all answers");
  assert.deepEqual(await run.first("a.example"), ["a.example A 1.1.1.1 30"]);
});

Deno.test("responses of another type are ignored; resources of another type are rejected", async () => {
  await using run = await started();
  run.push(message([1, "v"], [4, "type.googleapis.com/envoy.Other"], [5, "1"]));
  run.push(
    message([1, "v"], [2, any(new Uint8Array(0), "type.googleapis.com/envoy.Other")], [4, NAME_TABLE], [5, "2"]),
  );
  await until(() => run.requests.length === 2, "There was no sign of the refusal");
  assert.equal(run.requests[1]?.nonce, "2");
  assert.match(run.requests[1]?.problem ?? "", /envoy\.Other/);
});
