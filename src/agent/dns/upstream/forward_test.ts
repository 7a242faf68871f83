import assert from "node:assert/strict";
import {
  addressAnswer,
  answersOf,
  askTcp,
  askUdp,
  type Behaviour,
  decoded,
  fakeUpstream,
  type Message,
  packet,
  questionBytes,
} from "../../../../test/support/dns/client.ts";
import { dnsServer, dnsWorld, RESOLV_CONF } from "../../../../test/support/dns/server.ts";
import { until } from "../../../../test/support/until.ts";
import { freePort } from "../../../../test/support/ports.ts";
import { getLogger } from "@logtape/logtape";
import { Forwarder } from "./forward.ts";
import { TUNING } from "../options.ts";
import { readResolvConf } from "./resolv_conf.ts";
import { Resolver } from "../server/resolver.ts";

const QUICK = { upstreamTimeout: 300 };
const good: Behaviour = (question) => [addressAnswer(question, ["192.0.2.1"])];

async function ask(port: number, transport: "udp" | "tcp", bytes = questionBytes("Www.example.com")): Promise<Message> {
  const [raw = new Uint8Array(0)] = transport === "tcp" ? await askTcp(port, [bytes]) : [await askUdp(port, bytes)];
  return decoded(raw);
}

/** What a server does, and what its client gets of it by each transport: answers, or the error. */
const BEHAVIOURS: readonly (readonly [string, Behaviour, string, string])[] = [
  ["good", good, "www.example.com A 192.0.2.1 5", "www.example.com A 192.0.2.1 5"],
  ["silent", () => [], "SERVFAIL", "SERVFAIL"],
  ["empty bytes", () => [new Uint8Array(0)], "SERVFAIL", "SERVFAIL"],
  ["not whole", (question) => [addressAnswer(question, ["192.0.2.1"]).slice(0, -3)], "SERVFAIL", "SERVFAIL"],
  [
    "another number",
    (question) => [addressAnswer({ ...question, id: (question.id ?? 0) ^ 1 }, ["6.6.6.6"])],
    "SERVFAIL",
    "SERVFAIL",
  ],
  [
    "forged first, then good",
    (question, bytes, transport) => [
      ...transport === "tcp" ? [] : [
        addressAnswer({ ...question, id: (question.id ?? 0) ^ 1 }, ["6.6.6.6"]),
        addressAnswer({ ...question, questions: [{ name: "evil.example", type: "A", class: "IN" }] }, ["6.6.6.6"]),
        bytes,
      ],
      ...good(question, bytes, transport),
    ],
    "www.example.com A 192.0.2.1 5",
    "www.example.com A 192.0.2.1 5",
  ],
  [
    "in lower case",
    (question) => [
      addressAnswer({ ...question, questions: [{ name: "www.example.com", type: "A", class: "IN" }] }, ["192.0.2.1"]),
    ],
    "www.example.com A 192.0.2.1 5",
    "www.example.com A 192.0.2.1 5",
  ],
  [
    "unknown name",
    (question) => [
      packet.encode({ type: "response", id: question.id ?? 0, flags: 3, questions: question.questions ?? [] }),
    ],
    "NXDOMAIN",
    "NXDOMAIN",
  ],
  [
    "refusal without the question",
    (question) => [
      packet.encode({ type: "response", id: question.id ?? 0, flags: 5 }),
    ],
    "REFUSED",
    "REFUSED",
  ],
];

Deno.test("upstream behaviour, and the answer for the application", async () => {
  for (const [what, behave, udp, tcp] of BEHAVIOURS) {
    await using upstream = await fakeUpstream(behave);
    await using server = await dnsServer({ table: {}, ...QUICK, tuning: { upstreamPort: upstream.port } });
    for (const [transport, expected] of [["udp", udp], ["tcp", tcp]] as const) {
      const bytes = questionBytes("Www.example.com", "A", { id: 4711 });
      const answer = await ask(server.port, transport, bytes);
      const got = answer.rcode === "NOERROR" ? answersOf(answer).join().toLowerCase() : answer.rcode;
      assert.equal(
        got,
        expected === expected.toUpperCase() ? expected : expected.toLowerCase(),
        `${what}, ${transport}`,
      );
      assert.equal(answer.id, 4711, what);
      assert.ok((answer.questions ?? []).every(({ name }) => name === "Www.example.com"), `${what}: the case is kept`);
    }
    assert.ok(upstream.seen.some(({ id }) => id !== 4711), `${what}: the number is another`);
  }
});

Deno.test("a long answer is truncated to whole records with TC; over TCP it is complete", async () => {
  const many = Array.from({ length: 130 }, (_, at) => `10.0.0.${at}`);
  await using upstream = await fakeUpstream((question) => [addressAnswer(question, many)]);
  await using server = await dnsServer({ table: {}, ...QUICK, tuning: { upstreamPort: upstream.port } });
  for (const [udpSize, most] of [[undefined, 512], [100, 512], [1232, 1232]] as const) {
    const raw = await askUdp(server.port, questionBytes("many.example", "A", udpSize === undefined ? {} : { udpSize }));
    const answer = decoded(raw);
    assert.ok(raw.length <= most && raw.length > most - 40, `${udpSize}: ${raw.length}`);
    assert.equal(answer.flag_tc, true);
    assert.ok(answersOf(answer).length > 10);
  }
  const [whole = new Uint8Array(0)] = await askTcp(server.port, [questionBytes("many.example")]);
  assert.deepEqual([decoded(whole).answers?.length, decoded(whole).flag_tc], [130, false]);
});

Deno.test("a truncated answer keeps its OPT record", async () => {
  const many = Array.from({ length: 100 }, (_, at) => `10.0.0.${at}`);
  const [opt] = decoded(questionBytes("x", "A", { udpSize: 4096 })).additionals ?? [];
  await using upstream = await fakeUpstream((question) => [
    addressAnswer(question, many, { additionals: opt === undefined ? [] : [opt] }),
  ]);
  await using server = await dnsServer({ table: {}, ...QUICK, tuning: { upstreamPort: upstream.port } });
  const answer = decoded(await askUdp(server.port, questionBytes("many.example", "A", { udpSize: 600 })));
  assert.deepEqual([answer.flag_tc, answer.additionals?.map(({ udpPayloadSize }) => udpPayloadSize)], [true, [4096]]);
});

Deno.test("a question whose answer exceeds UDP's limits is repeated over TCP, and the client gets the answer", async () => {
  const many = Array.from({ length: 400 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
  await using upstream = await fakeUpstream((question) => [addressAnswer(question, many)]);
  await using server = await dnsServer({ table: {}, tuning: { upstreamPort: upstream.port } });
  const cut = await ask(server.port, "udp");
  assert.deepEqual([cut.rcode, cut.flag_tc], ["NOERROR", true]);
  assert.ok(answersOf(cut).length > 10);
  assert.equal(answersOf(await ask(server.port, "tcp")).length, many.length);
});

Deno.test("a question is forwarded once per TTL, for both transports; new servers clear the cache", async () => {
  await using upstream = await fakeUpstream((question) => [addressAnswer(question, ["192.0.2.1"])]);
  await using server = await dnsServer({ table: {}, tuning: { upstreamPort: upstream.port } });
  const samples = async () => {
    const families = (await server.collect()).filter(({ name, type }) => name.startsWith("dns_") && type === "counter");
    return Object.fromEntries(families.map(({ name, samples }) => [name, samples[0]?.value]));
  };
  for (const transport of ["udp", "tcp", "udp"] as const) {
    const bytes = questionBytes(transport === "tcp" ? "wWw.eXample.com" : "Www.example.com", "A", { id: 99 });
    const answer = await ask(server.port, transport, bytes);
    assert.deepEqual([answer.id, answer.questions?.[0]?.name], [99, decoded(bytes).questions?.[0]?.name]);
    assert.equal(answer.answers?.length, 1);
  }
  assert.equal(upstream.seen.length, 1);
  assert.deepEqual(await samples(), {
    dns_requests_total: 3,
    dns_upstream_requests_total: 1,
    dns_upstream_failures_total: undefined,
    dns_cache_hits_total: 2,
    dns_cache_misses_total: 1,
  });
  server.world.content.set(RESOLV_CONF, new TextEncoder().encode("nameserver 127.0.0.1\noptions ndots:5\n"));
  server.skip(5000);
  await ask(server.port, "udp");
  await until(async () => {
    await ask(server.port, "udp");
    return upstream.seen.length > 2;
  });
});

const TWO = "nameserver 127.0.0.1\nnameserver 127.0.0.2\n";

Deno.test("a server that refuses connections is skipped immediately, in any order of servers", async () => {
  await using upstream = await fakeUpstream(good);
  for (const random of [() => 0, () => 0.999]) {
    await using server = await dnsServer({
      resolvConf: TWO,
      table: {},
      // A timeout of an hour: an answer shows that the refusal was heard.
      upstreamTimeout: 3_600_000,
      tuning: { upstreamPort: upstream.port, random },
    });
    for (const transport of ["udp", "tcp"] as const) assert.equal((await ask(server.port, transport)).rcode, "NOERROR");
  }
});

Deno.test("servers are asked in random order, sequentially or in parallel", async () => {
  await using first = await fakeUpstream(() => []);
  const port = { upstreamPort: first.port };
  await using second = await fakeUpstream(good, "127.0.0.2", first.port);
  const orders = new Set<string>();
  for (let turn = 0; turn < 60 && orders.size < 2; turn++) {
    first.seen.length = 0;
    await using server = await dnsServer({ resolvConf: TWO, table: {}, upstreamTimeout: 1000, tuning: port });
    assert.equal((await ask(server.port, "udp")).rcode, "NOERROR");
    orders.add(first.seen.length > 0 ? "silent first" : "good first");
  }
  assert.equal(orders.size, 2);
  await using parallel = await dnsServer({
    resolvConf: TWO,
    table: {},
    isParallel: true,
    upstreamTimeout: 3_600_000,
    tuning: port,
  });
  for (const transport of ["udp", "tcp"] as const) assert.equal((await ask(parallel.port, transport)).rcode, "NOERROR");
  assert.ok(second.seen.length > 0);
});

Deno.test("questions above the limit of questions in flight fail immediately", async () => {
  await using upstream = await fakeUpstream(() => []);
  await using server = await dnsServer({
    table: {},
    upstreamTimeout: 3_600_000,
    tuning: { upstreamPort: upstream.port, maxForwarded: 3 },
  });
  const waiting = [1, 2, 3].map(() => askUdp(server.port, questionBytes("slow.example"), undefined, 1000));
  waiting.forEach((each) => each.catch(() => {}));
  while (upstream.seen.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal((await ask(server.port, "udp")).rcode, "SERVFAIL");
  assert.equal(upstream.seen.length, 3);
  await server.close();
  for (const each of waiting) await assert.rejects(each, /no answer/);
});

Deno.test("the server never forwards to itself", async () => {
  const port = freePort();
  await using server = await dnsServer({
    address: `127.0.0.1:${port}`,
    table: {},
    ...QUICK,
    tuning: { upstreamPort: port },
  });
  assert.equal((await ask(server.port, "udp")).rcode, "SERVFAIL");
  const [requests] = (await server.collect()).filter(({ name }) => name === "dns_requests_total");
  assert.deepEqual(requests?.samples.map(({ value }) => value), [1], "its own question would be the second");
});

Deno.test("a forwarded question that comes back fails, and is not forwarded again", () => {
  const loops: string[] = [];
  const world = dnsWorld("");
  const options = { ...TUNING, network: world.network, isParallel: false, ...QUICK, log: getLogger(["test"]) };
  const forwarder = new Forwarder({ ...options, signal: AbortSignal.abort() });
  const resolver = new Resolver({
    forwarder,
    conf: () => readResolvConf("nameserver 127.0.0.1"),
    isOwn: () => false,
    answersBeforeTable: true,
    onLoop: () => loops.push("circle"),
    random: Math.random,
    cacheBytes: TUNING.cacheBytes,
    clock: world.clock,
  });
  forwarder.ports.add(40_000);
  const answer = resolver.answer(questionBytes("www.example.com"), "udp", 40_000);
  assert.ok(answer instanceof Uint8Array);
  assert.deepEqual([decoded(answer).rcode, loops], ["SERVFAIL", ["circle"]]);
  assert.ok(resolver.answer(questionBytes("www.example.com"), "udp", 40_001) instanceof Promise);
});

Deno.test("a changed resolv.conf is used after the next refresh", async () => {
  await using upstream = await fakeUpstream(good);
  await using server = await dnsServer({
    resolvConf: "nameserver 127.0.0.9\n",
    table: {},
    ...QUICK,
    tuning: { upstreamPort: upstream.port },
  });
  assert.equal((await ask(server.port, "udp")).rcode, "SERVFAIL");
  server.world.content.set(RESOLV_CONF, new TextEncoder().encode("nameserver 127.0.0.1\n"));
  server.skip(6000);
  const deadline = performance.now() + 10_000;
  let rcode = "SERVFAIL";
  while (rcode !== "NOERROR" && performance.now() < deadline) rcode = (await ask(server.port, "udp")).rcode ?? "";
  assert.equal(rcode, "NOERROR");
});
