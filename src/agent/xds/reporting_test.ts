import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import assert from "node:assert/strict";
import { joinBytes } from "../../base/bytes.ts";
import { encodeFrame, FrameReader } from "../grpc/frames.ts";
import type { HealthReport } from "../health/options.ts";
import { HEALTH_TYPE, LISTENER_TYPE, type RequestForm, requestForm, typeOf } from "./report_message.ts";
import { reporting } from "./reporting.ts";

const SERVICE = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
const CLUSTER_TYPE = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const METHODS = ["StreamAggregatedResources", "DeltaAggregatedResources"] as const;

function formOf(method: string): RequestForm {
  const form = requestForm(`${SERVICE}/${method}`);
  assert.ok(form);
  return form;
}

/** A request of Envoy's, with a node. */
function request({ typeUrl }: RequestForm, type: string): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter().tag(typeUrl === 2 ? 1 : 2, 2).bytes(new Uint8Array(3000)).tag(typeUrl, 2).string(
    type,
  );
  return encodeFrame(writer.finish());
}

/** Health that a test sets. */
function health() {
  const listeners = new Set<() => void>();
  let current: HealthReport | undefined;
  return {
    listeners,
    reports: {
      current: () => current,
      subscribe(changed: () => void) {
        listeners.add(changed);
        return () => void listeners.delete(changed);
      },
    },
    set(problem: string | undefined) {
      current = { problem };
      for (const listener of listeners) listener();
    },
  };
}

/** What Envoy says, and what comes out. */
function passage(method: string, source: ReturnType<typeof health>) {
  const form = formOf(method);
  const inner = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const writer = inner.writable.getWriter();
  const { body, stop } = reporting(inner.readable, form, source.reports);
  const reader = body.getReader();
  return {
    form,
    stop,
    writer,
    reader,
    async next(): Promise<Uint8Array> {
      const { value } = await reader.read();
      assert.ok(value);
      return value;
    },
  };
}

/** The problem in a report, `""` for none. Asserts that it is a report of this form, in a frame of its own. */
function reported(form: RequestForm, frame: Uint8Array): string {
  const [message, ...others] = new FrameReader().push(frame);
  assert.ok(message);
  assert.equal(others.length, 0);
  assert.equal(typeOf(form, message), HEALTH_TYPE);
  const reader = new BinaryReader(message);
  let problem = "";
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number !== form.errorDetail) {
      reader.skip(wire, number);
      continue;
    }
    const status = new BinaryReader(reader.bytes());
    assert.deepEqual([status.tag()[0], status.int32(), status.tag()[0]], [1, 13, 2]);
    problem = status.string();
  }
  return problem;
}

for (const method of METHODS) {
  Deno.test(`reporting() sends the last health after the listener request, and each change: ${method}`, async () => {
    const source = health();
    const { form, writer, next, reader } = passage(method, source);
    source.set("not ready");
    source.set(undefined);
    const clusters = request(form, CLUSTER_TYPE);
    writer.write(clusters);
    assert.deepEqual(await next(), clusters);
    const listeners = request(form, LISTENER_TYPE);
    writer.write(listeners);
    assert.deepEqual(await next(), listeners);
    assert.equal(reported(form, await next()), "");
    // Nothing more than that: what comes next is Envoy's.
    writer.write(listeners);
    assert.deepEqual(await next(), listeners);
    for (const problem of ["the application answered 500", undefined]) {
      const waiting = next();
      source.set(problem);
      assert.equal(reported(form, await waiting), problem ?? "");
    }
    const ended = reader.read();
    await writer.close();
    assert.equal((await ended).done, true);
    assert.equal(source.listeners.size, 0);
  });

  Deno.test(`reporting() inserts nothing into a split message: ${method}`, async () => {
    const source = health();
    source.set("ill");
    const form = formOf(method);
    const messages = joinBytes([CLUSTER_TYPE, LISTENER_TYPE, CLUSTER_TYPE].map((type) => request(form, type)));
    // Sizes that end within heads, within messages, and over the end of one.
    for (const size of [1, 4, 7, 999, 3500, messages.length]) {
      const { writer, reader } = passage(method, source);
      const output = Array.fromAsync({
        async *[Symbol.asyncIterator]() {
          for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
        },
      });
      for (let at = 0; at < messages.length; at += size) await writer.write(messages.slice(at, at + size));
      await writer.close();
      const types = [...new FrameReader().push(joinBytes(await output))].map((message) => typeOf(form, message));
      assert.equal(types.filter((type) => type === HEALTH_TYPE).length, 1, String(size));
      assert.ok(types.indexOf(HEALTH_TYPE) > types.indexOf(LISTENER_TYPE), String(size));
      assert.deepEqual(types.filter((type) => type !== HEALTH_TYPE), [CLUSTER_TYPE, LISTENER_TYPE, CLUSTER_TYPE]);
    }
  });
}

Deno.test("reporting() ends a body that is not gRPC", async () => {
  const source = health();
  const { writer, reader } = passage("DeltaAggregatedResources", source);
  writer.write(Uint8Array.of(1, 0, 0, 0, 1, 7)).catch(() => {});
  await assert.rejects(reader.read(), /a message is compressed/);
  source.set("ill");
  assert.equal(source.listeners.size, 0);
});

Deno.test("reporting() ends its subscription when the other side closes, and ends Envoy's body", async () => {
  const source = health();
  const { reader, writer } = passage("DeltaAggregatedResources", source);
  assert.equal(source.listeners.size, 1);
  await reader.cancel("gone");
  assert.equal(source.listeners.size, 0);
  await assert.rejects(writer.closed, (error) => error === "gone");
});

Deno.test("reporting() passes Envoy's error on", async () => {
  const source = health();
  const { reader, writer } = passage("DeltaAggregatedResources", source);
  const broken = new Error("broken");
  const read = reader.read();
  writer.abort(broken).catch(() => {});
  await assert.rejects(read, broken);
  assert.equal(source.listeners.size, 0);
});

Deno.test("requestForm() knows ADS calls only", () => {
  assert.equal(requestForm("/envoy.service.discovery.v3.ClusterDiscoveryService/StreamClusters"), undefined);
});
