/** Attacks on `webhook serve` from the network while legitimate reviews come: docs/security.md. */
import assert from "node:assert/strict";
import { isLong, printFigure } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { review, reviewOf, WebhookServer } from "../webhook/support/server.ts";
import { limitMemory } from "./support/memory_cgroup.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";
const encoder = new TextEncoder();
const EVERY = 250;
/**
 * The maximum milliseconds for an answer. A long run has the machine for itself. A short run shares it with other
 * tests, and must only stay within the API server's timeout.
 */
const MAX_ANSWER = isLong() ? 1000 : 10_000;
const MAX_MEGABYTES = 256;
/** The duration of an attack. */
const SECONDS = isLong() ? 5 : 2;
/** For all attacks in turn: the memory limit of `webhook manifests`. */
const LIMIT = 512 * 1024 * 1024;
/** For all attacks in turn: the duration of each attack and of all, in seconds. */
const ALL_SECONDS = isLong() ? 20 * 60 : 10;
const TURN_SECONDS = isLong() ? 5 : 1;
const PIECE = new Uint8Array(64 * 1024).fill(0x20);
const HOST = "127.0.0.1";
/** Another address than the attacker's, as API servers have. */
const OTHER_HOST = "127.0.0.2";

/** Opens the connections of an attacker. */
class Attacker {
  #isOver = false;
  readonly #open: Deno.Conn[] = [];
  constructor(readonly server: WebhookServer, readonly plainPort: number) {}

  async plain(): Promise<Deno.Conn> {
    return this.#keep(await Deno.connect({ hostname: HOST, port: this.plainPort }));
  }

  async tcp(): Promise<Deno.Conn> {
    return this.#keep(await Deno.connect({ hostname: HOST, port: this.server.port }));
  }

  async tls(): Promise<Deno.TlsConn> {
    const { certificate: { authority }, port } = this.server;
    return this.#keep(await Deno.connectTls({ hostname: "localhost", port, caCerts: [authority] }));
  }

  close(): void {
    this.#isOver = true;
    for (const each of this.#open.splice(0)) closed(each);
  }

  #keep<C extends Deno.Conn>(connection: C): C {
    // A handshake may complete after the attack.
    if (this.#isOver) closed(connection);
    else this.#open.push(connection);
    return connection;
  }
}

function closed(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // The server has closed it.
  }
}

async function send(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

const HEAD = "POST /inject HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";

function head(length: number, ...more: readonly string[]): Uint8Array {
  return encoder.encode(`${HEAD}${[`Content-Length: ${length}`, ...more].join("\r\n")}\r\n\r\n`);
}

const chunkedHead = encoder.encode(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);

/** A review with a large answer: the patch contains the pod's annotation. */
const LARGE_REVIEW = reviewOf("large", { annotations: { "example.com/large": "a".repeat(20_000) } });
const REVIEW_HEAD = `${HEAD}Content-Length: ${LARGE_REVIEW.length}\r\n\r\n`;

async function times(count: number, attack: () => Promise<unknown>): Promise<void> {
  // The server may refuse or close connections of the attack.
  await Promise.all(Array.from({ length: count }, () => attack().catch(() => {})));
}

const BRACKETS = encoder.encode("[".repeat(6_000_000));

type Attack = (attacker: Attacker) => Promise<void>;

const ATTACKS: Readonly<Record<string, Attack>> = {
  "4 bodies of 6,000,000 brackets": (attacker) =>
    times(4, async () => {
      const connection = await attacker.tls();
      await send(connection, head(BRACKETS.length));
      await send(connection, BRACKETS);
      await connection.read(new Uint8Array(100));
    }),
  "20 connections that send almost 6 MiB and stall": (attacker) =>
    times(20, async () => {
      const connection = await attacker.tls();
      await send(connection, head(6_290_000));
      for (let sent = 0; sent < 95; sent++) await send(connection, PIECE);
    }),
  "2 bodies in 3,000 writes of one byte": (attacker) =>
    times(2, async () => {
      const connection = await attacker.tls();
      await send(connection, head(7_000_000));
      for (let sent = 0; sent < 3000; sent++) await send(connection, PIECE.subarray(0, 1));
    }),
  "400 requests without their body": (attacker) => times(400, async () => await send(await attacker.tls(), head(100))),
  "400 requests that wait for 100 Continue": (attacker) =>
    times(400, async () => await send(await attacker.tls(), head(100, "Expect: 100-continue"))),
  "100 bodies in chunks of one byte": (attacker) =>
    times(100, async () => {
      const connection = await attacker.tls();
      await send(connection, chunkedHead);
      for (let sent = 0; sent < 1000; sent++) await send(connection, encoder.encode("1\r\n[\r\n"));
    }),
  "100 bodies with trailers and extensions of chunks of 1 MB": (attacker) =>
    times(100, async () => {
      const connection = await attacker.tls();
      await send(connection, chunkedHead);
      await send(
        connection,
        encoder.encode(`2;${"a".repeat(1_000_000)}\r\n{}\r\n0\r\nX: ${"a".repeat(1_000_000)}\r\n`),
      );
    }),
  "100 heads of 1 MB, and 100 of 10,000 fields": (attacker) =>
    times(200, async () => {
      const connection = await attacker.tls();
      await send(connection, encoder.encode("POST /inject HTTP/1.1\r\nHost: a\r\n"));
      await send(connection, encoder.encode(`X: ${"a".repeat(1_000_000)}\r\n`));
      await send(connection, encoder.encode("X: a\r\n".repeat(10_000)));
    }),
  "20 connections with 2,000 pipelined requests, whose answers nobody reads": (attacker) =>
    times(20, async () => {
      const connection = await attacker.tls();
      const request = encoder.encode(`${REVIEW_HEAD}${LARGE_REVIEW}`);
      for (let sent = 0; sent < 2000; sent++) await send(connection, request);
    }),
  "2,000 connections that are reset, half of them after a review": (attacker) =>
    times(20, async () => {
      for (let made = 0; made < 100; made++) {
        const connection = await attacker.tls();
        await send(connection, made % 2 === 0 ? head(100) : encoder.encode(`${REVIEW_HEAD}${LARGE_REVIEW}`));
        closed(connection);
      }
    }),
  "200 connections that are half closed within a body": (attacker) =>
    times(200, async () => {
      const connection = await attacker.tls();
      await send(connection, head(100));
      await connection.closeWrite();
    }),
  "300 bodies that are shorter or longer than they say": (attacker) =>
    times(300, async () => {
      const connection = await attacker.tls();
      await send(connection, head(10));
      await send(connection, PIECE);
      await send(connection, encoder.encode("POST /inject HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"));
    }),
  "300 connections that begin with HTTP/2": (attacker) =>
    times(300, async () => {
      const connection = await attacker.tls();
      await send(connection, encoder.encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
      await send(connection, PIECE);
    }),
  "300 connections with an unfinished header on the plain port": (attacker) =>
    times(300, async () => {
      const connection = await attacker.plain();
      await send(connection, encoder.encode("GET /ready HTTP/1.1\r\nX: "));
      for (let sent = 0; sent < 6; sent++) await send(connection, PIECE);
    }),
  "600 connections that say nothing": (attacker) => times(600, () => attacker.tcp()),
  "100 handshakes of TLS that do not end": (attacker) =>
    times(100, async () => await send(await attacker.tcp(), Uint8Array.of(22, 3, 1, 2, 0))),
};

/** Attacks that exceed the limit of new connections for one address: the reviews come from another address. */
const STORMS = ["600 connections that say nothing", "2,000 connections that are reset, half of them after a review"];

/** Legitimate reviews, sent until the signal: the milliseconds of each, `Infinity` for a lost one. */
interface Reviews {
  readonly spent: Promise<number[]>;
}

/** Sends reviews on a connection that was opened before the attack, as an API server does. */
async function startReviews(server: WebhookServer, localAddress: string, stop: AbortSignal): Promise<Reviews> {
  const client = Deno.createHttpClient({ caCerts: [server.certificate.authority], localAddress });
  await review(server, client, reviewOf("first"));
  const send = async () => {
    const spent: Promise<number>[] = [];
    while (!stop.aborted) {
      const start = performance.now();
      spent.push(
        review(server, client, reviewOf(`web-${spent.length}`)).then(
          ({ text }) => text.includes('"allowed":true') ? performance.now() - start : Infinity,
          () => Infinity,
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, EVERY));
    }
    return await Promise.all(spent).finally(() => client.close());
  };
  return { spent: send() };
}

/** The peak memory of the process, in MB. Throws if the process has ended. */
async function peakMegabytes({ pid }: WebhookServer): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

for (const [name, attack] of Object.entries(ATTACKS)) {
  testWhen(notLinux, `reviews are answered, and memory is bounded, under ${name}`, async () => {
    await using server = await WebhookServer.start();
    await answersUnder(name, attack, server);
  });
}

testWhen(
  notLinux,
  "reviews are answered with 300 file descriptors, while 300 idle connections come to each port",
  async () => {
    await using server = await WebhookServer.startWithFiles(300);
    const idle = (attacker: Attacker) => times(300, () => Promise.all([attacker.plain(), attacker.tcp()]));
    await answersUnder("300 idle connections, 300 files", idle, server);
  },
);

async function answersUnder(name: string, attack: Attack, server: WebhookServer): Promise<void> {
  const attacker = new Attacker(server, Number(new URL(server.plainUrl).port));
  const stop = new AbortController();
  // The attacker's own address is the harder case.
  const reviews = await startReviews(server, STORMS.includes(name) ? OTHER_HOST : HOST, stop.signal);
  const attacking = attack(attacker);
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
  attacker.close();
  stop.abort();
  await attacking;
  const spent = await reviews.spent;
  const late = spent.filter((milliseconds) => milliseconds > MAX_ANSWER);
  const peak = await peakMegabytes(server);
  printFigure(`${name}: ${spent.length} reviews, ${late.length} late or lost, ${peak.toFixed(0)} MB`);
  const figures = `${spent.length} reviews, late: ${late.map(Math.round)}, ${peak.toFixed(0)} MB`;
  assert.ok(late.length <= spent.length / 100, figures);
  assert.ok(peak < MAX_MEGABYTES, figures);
}

testWhen(
  notLinux,
  "all attacks in turn, in a cgroup of 512 MiB if possible: the webhook survives, and no review is lost",
  async () => {
    const server = await WebhookServer.start();
    const cgroup = await limitMemory(server.pid, LIMIT);
    const stop = new AbortController();
    const reviews = await startReviews(server, OTHER_HOST, stop.signal);
    const end = performance.now() + ALL_SECONDS * 1000;
    try {
      const attacks = Object.values(ATTACKS);
      for (let turn = 0; performance.now() < end; turn++) {
        const attacker = new Attacker(server, Number(new URL(server.plainUrl).port));
        const attacking = attacks[turn % attacks.length]?.(attacker);
        await new Promise((resolve) => setTimeout(resolve, TURN_SECONDS * 1000));
        attacker.close();
        await attacking;
      }
      stop.abort();
      const spent = await reviews.spent;
      const late = spent.filter((milliseconds) => milliseconds > MAX_ANSWER);
      const peak = await peakMegabytes(server);
      const ofCgroup = await cgroup?.peakMegabytes();
      const figures = `${spent.length} reviews, late: ${late.map(Math.round)}, ${peak.toFixed(0)} MB, ` +
        `cgroup ${ofCgroup?.toFixed(0)} MB`;
      printFigure(`all attacks in turn: ${figures}`);
      assert.ok(late.length <= spent.length / 100 && !late.includes(Infinity), figures);
      assert.ok(peak < MAX_MEGABYTES, figures);
    } finally {
      stop.abort();
      await server[Symbol.asyncDispose]();
      await cgroup?.remove();
    }
  },
);
