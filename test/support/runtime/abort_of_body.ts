/**
 * Reads the body of a response that nothing references, collects garbage (needs `--v8-flags=--expose-gc`), and aborts.
 * Prints how the body ended. With the argument `fetch`, it uses the runtime's own fetch.
 */
import assert from "node:assert/strict";
import { realFetch } from "../../../src/platform/deno/network/fetch.ts";

async function bodyOf(url: string, signal: AbortSignal): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const { body } = await (Deno.args[0] === "fetch" ? fetch : realFetch)(url, { signal });
  assert(body !== null);
  return body.getReader();
}

async function collectGarbage(): Promise<void> {
  const gc: unknown = Reflect.get(globalThis, "gc");
  assert(typeof gc === "function");
  // Objects that the current task has read stay reachable until the task ends.
  await new Promise((resolve) => setTimeout(resolve, 10));
  gc();
}

// Returns a response whose body starts and never ends.
const answer = () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array([97])) }));
const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, answer);
const stop = new AbortController();
const reader = await bodyOf(`http://127.0.0.1:${server.addr.port}/`, stop.signal);
await reader.read();
await collectGarbage();
const rest = reader.read().then(() => "read", (error) => error.name);
await collectGarbage();
stop.abort();
const never = new Promise((resolve) => setTimeout(() => resolve("never"), Deno.args[0] === "fetch" ? 1_000 : 5_000));
await Deno.stdout.write(new TextEncoder().encode(`${await Promise.race([rest, never])}\n`));
Deno.exit();
