import assert from "node:assert/strict";
import { startLog } from "../../platform/log.ts";
import { realWorld } from "../../platform/mod.ts";
import { configurationOf } from "../../inject/mod.ts";
import { injectorOf } from "../sources/injector_of.ts";
import { type Answered, reviewPod } from "../review/review_pod.ts";
import { messagesOf } from "./frames.ts";
import { encodeFrame, type Frame } from "./frames.ts";
import { ReviewPool } from "./pool.ts";
import { type Started, worldWithHelpers } from "../../../test/support/webhook/worker_memory.ts";

const texts = { ...configurationOf({ config: undefined, values: undefined, mesh: undefined }), revision: "one" };
const injector = await injectorOf(texts, realWorld());
const TOLD = { result: "injected", reason: "r", message: "m", warnings: ["w"], uid: "u", namespace: "n", name: "p" };
const bytes = (text: string) => new TextEncoder().encode(text);

/** A worker that connects, is ready, and handles each message with a function. */
function worker(heard: (message: Frame, started: Started, send: (bytes: Uint8Array) => void) => void, token?: string) {
  return async (started: Started) => {
    const send = (message: Uint8Array) => void started.connection.write(message).catch(() => {});
    send(encodeFrame({ kind: "hello", head: token ?? started.token }));
    send(encodeFrame({ kind: "ready" }));
    for await (const message of messagesOf(started.connection)) heard(message, started, send);
  };
}

const answers = ({ kind, id, head, body }: Frame, _started: Started, send: (bytes: Uint8Array) => void) => {
  if (kind !== "review") return;
  const text = `${head} ${new TextDecoder().decode(body)}`;
  send(encodeFrame({ kind: "reviewed", id, head: JSON.stringify({ ...TOLD, dryRun: true }), body: bytes(text) }));
};

async function opened(run: (started: Started) => unknown, count = 2) {
  const { world, started, said } = worldWithHelpers(run);
  let inputs = { injector, proxyConfigs: undefined, namespaces: {}, nodes: undefined };
  const answer = (body: Uint8Array): ReturnType<typeof reviewPod> => ({
    ...reviewPod(body, { injector, path: "/" }),
    body: "here",
  });
  const log = startLog(world, "webhook");
  const pool = await ReviewPool.open(world, { count, inputs: () => inputs, answer, log });
  await settled();
  const ask = async (text: string) => textOf(await pool.review(bytes(text), "/inject"));
  return { pool, ask, started, said, learn: (next: Partial<typeof inputs>) => inputs = { ...inputs, ...next } };
}

function textOf({ body }: Answered): string {
  return typeof body === "string" ? body : new TextDecoder().decode(body);
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("workers answer reviews, with the data for logs", async () => {
  const { pool, ask } = await opened(worker(answers));
  assert.equal(pool.size, 2);
  const texts = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(`${index}`)));
  assert.deepEqual(texts, Array.from({ length: 20 }, (_, index) => `/inject ${index}`));
  const { body: _, ...told } = await pool.review(bytes("x"), "/");
  assert.deepEqual(told, { ...TOLD, dryRun: true });
  await pool.close();
});

Deno.test("this process answers while no worker is ready", async () => {
  const { pool, ask } = await opened(() => {});
  assert.deepEqual([pool.size, await ask("x")], [0, "here"]);
  await pool.close();
});

Deno.test("a connection without the token gets no review", async () => {
  const { pool, ask } = await opened(worker(answers, "guessed"));
  assert.deepEqual([pool.size, await ask("x")], [0, "here"]);
  await pool.close();
});

Deno.test("a worker gets updates before the next review", async () => {
  const heard: string[] = [];
  const { pool, ask, learn } = await opened(
    worker((message, ...rest) => {
      heard.push(
        `${message.kind} ${message.kind === "configuration" ? /"revision":"\w+"/.exec(message.head) : ""}`.trim(),
      );
      answers(message, ...rest);
    }),
    1,
  );
  await ask("a");
  learn({ injector: await injectorOf({ ...texts, revision: "two" }, realWorld()) });
  await ask("b");
  learn({ namespaces: { shop: { a: "1" } } });
  await ask("c");
  await ask("d");
  const [one, two] = ['configuration "revision":"one"', 'configuration "revision":"two"'];
  assert.deepEqual(heard, [one, "cluster", "review", two, "review", "cluster", "review", "review"]);
  await pool.close();
});

Deno.test("a dead worker is replaced, and others answer its reviews", async () => {
  let deaths = 0;
  const { pool, ask, started, said } = await opened(
    worker((message, self, send) => {
      if (message.kind === "review" && deaths++ === 0) return self.die();
      answers(message, self, send);
    }),
  );
  const texts = await Promise.all(Array.from({ length: 8 }, (_, index) => ask(`${index}`)));
  assert.deepEqual(texts, Array.from({ length: 8 }, (_, index) => `/inject ${index}`));
  await settled();
  assert.deepEqual([started.length, pool.size, pool.restarts], [3, 2, 1]);
  assert.match(said.stderr, /error webhook: Worker process 10\d ended with SIGKILL: starting another one\n/);
  await pool.close();
});

Deno.test("a review is refused after two worker deaths, and the others are answered", async () => {
  const { pool, ask } = await opened(
    worker((message, self, send) => {
      if (new TextDecoder().decode(message.body) === "poison") return self.die();
      answers(message, self, send);
    }),
  );
  const [poison, ...texts] = await Promise.all(["poison", "1", "2", "3"].map(ask));
  assert.match(poison ?? "", /"allowed":false,.*internal error of the injector/);
  assert.deepEqual(texts, ["/inject 1", "/inject 2", "/inject 3"]);
  assert.ok(pool.restarts >= 2);
  await pool.close();
});

Deno.test("this process answers the queue while workers keep failing", async () => {
  let isGood = true;
  const { pool, ask } = await opened(
    (started) => {
      if (!isGood) return started.die();
      return worker(({ kind }, self) => {
        if (kind !== "review") return;
        isGood = false;
        self.die();
      })(started);
    },
    1,
  );
  const [first, ...rest] = await Promise.all(["0", "1", "2", "3"].map(ask));
  assert.match(first ?? "", /"allowed":false/);
  assert.deepEqual(rest, ["here", "here", "here"]);
  await pool.close();
});

Deno.test("an invalid message ends a worker, which is replaced", async () => {
  let isFirst = true;
  const { pool, ask, said } = await opened(
    worker((message, self, send) => {
      if (message.kind !== "review" || !isFirst) return answers(message, self, send);
      isFirst = false;
      const wrong = encodeFrame({ kind: "reviewed", id: message.id, head: "{}" });
      send(wrong);
    }),
    1,
  );
  assert.equal(await Promise.race([ask("x"), settled().then(() => "none")]), "none");
  assert.match(said.stderr, /Worker process .* ended/);
  await pool.close();
});
