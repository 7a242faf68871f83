import assert from "node:assert/strict";
import {
  addressAnswer,
  answersOf,
  askTcp,
  askUdp,
  decoded,
  fakeUpstream,
  questionBytes,
} from "../../../../test/support/dns/client.ts";
import { dnsServer, external, service } from "../../../../test/support/dns/server.ts";
import { isLong } from "../../../../test/support/long.ts";
import { fc } from "../../../../test/support/properties.ts";
import { testWhen } from "../../../../test/support/test_when.ts";
import type { NameInfo } from "../table/name_table.ts";

const COUNT = isLong() ? 10_000 : 2_000;

/** Hosts of all kinds, with up to 40 addresses, which do not fit into 512 bytes. */
function generatedTable(): Record<string, NameInfo> {
  const table: Record<string, NameInfo> = {};
  for (let at = 0; at < 150; at++) {
    const [v4, v6] = [`10.0.${at}.1`, `fd00::${at.toString(16)}`];
    const ips = [[v4], [v6], [v4, v6], Array.from({ length: 40 }, (_, index) => `10.1.${at}.${index}`)][at % 4] ?? [];
    const namespace = at % 3 === 0 ? "ns1" : `ns${at % 3 + 1}`;
    if (at % 5 < 3) table[`svc-${at}.${namespace}.svc.cluster.local`] = service(`svc-${at}`, namespace, ...ips);
    else if (at % 5 === 3) table[`Host-${at}.example.com`] = external(...ips);
    else table[`*.wild-${at}.example.com`] = external(...ips);
  }
  return table;
}

/** What is expected, by texts and without an index: Istio's own method, which writes every name down. */
function namesOf(
  table: Record<string, NameInfo>,
): Map<string, { readonly ips: readonly string[]; readonly cname?: string }> {
  const names = new Map<string, { ips: readonly string[]; cname?: string }>();
  for (const [host, { ips, registry, shortname, namespace }] of Object.entries(table)) {
    const isService = registry === "Kubernetes";
    const short = `${shortname}.${namespace}`;
    const all = [
      host.toLowerCase(),
      ...isService ? [short, `${short}.svc`, ...namespace === "ns1" ? [shortname] : []] : [],
    ];
    for (const name of all) names.set(name, { ips });
  }
  for (const [name, { ips }] of [...names]) {
    const expanded = `${name}.ns1.svc.cluster.local`;
    if (!names.has(expanded)) names.set(expanded, { ips, cname: name });
  }
  return names;
}

type Names = ReturnType<typeof namesOf>;

function expectedFor(names: Names, name: string, type: string): string[] | "forwarded" {
  const lower = name.toLowerCase();
  const labels = lower.split(".");
  const candidates = [lower, ...labels.map((_, at) => `*.${labels.slice(at + 1).join(".")}`)];
  const key = candidates.find((each) => names.has(each));
  const entry = key === undefined ? undefined : names.get(key);
  if (entry === undefined || (type !== "A" && type !== "AAAA")) return "forwarded";
  const ips = entry.ips.filter((ip) => ip.includes(":") === (type === "AAAA"));
  if (ips.length === 0) return [];
  const addresses = ips.map((ip) => `${entry.cname ?? lower} ${type} ${ip} 30`).sort();
  return entry.cname === undefined ? addresses : [`${lower} CNAME ${entry.cname} 30`, ...addresses];
}

const TYPES = ["A", "A", "AAAA", "AAAA", "TXT", "MX", "SRV", "PTR", "UNKNOWN_65", "CNAME", "NS"] as const;

function randomCase(text: string, dice: () => number): string {
  return [...text].map((letter) => dice() < 0.5 ? letter.toUpperCase() : letter).join("");
}

Deno.test(`${COUNT} generated questions over UDP and TCP are answered from the table`, async () => {
  await using upstream = await fakeUpstream((question) => [addressAnswer(question, ["192.0.2.99"])]);
  const table = generatedTable();
  await using server = await dnsServer({ table, tuning: { upstreamPort: upstream.port } });
  const names = namesOf(table);
  const known = [...names.keys()].map((name) => name.replace("*", "any.sub"));
  const [seed] = fc.sample(fc.nat(), 1);
  const dice = generator(seed ?? 1);
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(dice() * items.length)];
  const questions = Array.from({ length: COUNT }, (_, at): Question => {
    const isKnown = dice() < 0.85;
    const name = isKnown
      ? pick(known) ?? ""
      : `${at}.${pick(["example.org", "ns1", "svc.cluster.local", "example.com"])}`;
    return {
      name: randomCase(name, dice),
      type: pick(TYPES) ?? "A",
      udpSize: pick([undefined, 512, 1232, 4096, 65535]),
      id: at,
    };
  });
  const tally = new Map<string, number>();
  const ask = async (question: Question) => {
    const { name, type, udpSize, id } = question;
    const bytes = questionBytes(name, type, { id, ...udpSize === undefined ? {} : { udpSize } });
    const [raw = new Uint8Array(0)] = isTcp(question)
      ? await askTcp(server.port, [bytes])
      : [await askUdp(server.port, bytes)];
    const kind = judge(question, raw, expectedFor(names, name, type));
    tally.set(kind, (tally.get(kind) ?? 0) + 1);
  };
  for (let at = 0; at < COUNT; at += 50) await Promise.all(questions.slice(at, at + 50).map(ask));
  for (const kind of ["whole", "cut", "forwarded", "empty"]) assert.ok((tally.get(kind) ?? 0) >= COUNT / 250, kind);
});

interface Question {
  readonly name: string;
  readonly type: string;
  readonly udpSize: number | undefined;
  readonly id: number;
}

function isTcp({ id }: Question): boolean {
  return id % 2 === 0;
}

/** Compares an answer with what is expected; what kind it is of. */
function judge(question: Question, raw: Uint8Array, expected: readonly string[] | "forwarded"): string {
  const { name, type, udpSize, id } = question;
  const what = `${name} ${type} ${isTcp(question) ? "tcp" : `udp ${udpSize}`}`;
  const answer = decoded(raw);
  const [asked] = answer.questions ?? [];
  assert.deepEqual([answer.id, answer.rcode, asked?.name, asked?.type], [id, "NOERROR", name, type], what);
  assert.equal(answer.flag_aa, expected !== "forwarded", what);
  const got = answersOf(answer).map((text) => text.toLowerCase());
  if (expected === "forwarded") {
    assert.equal(got.length, 1, what);
    return expected;
  }
  const wanted = expected.map((text) => text.toLowerCase());
  const limit = isTcp(question) ? 65_535 : Math.max(512, udpSize ?? 0);
  assert.ok(raw.length <= limit, what);
  if (answer.flag_tc !== true) {
    assert.deepEqual(got, wanted, what);
    return got.length === 0 ? "empty" : "whole";
  }
  assert.ok(got.length < wanted.length && raw.length + 16 > limit, what);
  assert.ok(got.every((text) => wanted.includes(text)), what);
  return "cut";
}

/** Numbers from 0 to 1 (xorshift). */
function generator(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

Deno.test("before the first table every question fails, and none is forwarded", async () => {
  await using upstream = await fakeUpstream((question) => [addressAnswer(question, ["192.0.2.99"])]);
  await using server = await dnsServer({ tuning: { upstreamPort: upstream.port } });
  assert.equal(decoded(await askUdp(server.port, questionBytes("www.example.com"))).rcode, "SERVFAIL");
  const [tcp = new Uint8Array(0)] = await askTcp(server.port, [questionBytes("www.example.com")]);
  assert.equal(decoded(tcp).rcode, "SERVFAIL");
  assert.equal(upstream.seen.length, 0);
});

Deno.test("addresses are in random order", async () => {
  const ips = ["1.1.1.1", "2.2.2.2", "3.3.3.3"];
  await using server = await dnsServer({ table: { "many.example": external(...ips) } });
  const first = new Set<unknown>();
  for (let turn = 0; turn < 200 && first.size < 3; turn++) {
    first.add(decoded(await askUdp(server.port, questionBytes("many.example"))).answers?.[0]?.data);
  }
  assert.equal(first.size, 3);
});

Deno.test("malformed packets get an error or no answer, and break nothing", async () => {
  await using server = await dnsServer({ table: { "good.example": external("1.1.1.1") } });
  const wrong = questionBytes("good.example").slice();
  wrong[5] = 2;
  assert.equal(decoded(await askUdp(server.port, wrong)).rcode, "FORMERR");
  const dice = generator(7);
  const noise = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  for (let turn = 0; turn < 500; turn++) {
    const bytes = Uint8Array.from({ length: Math.floor(dice() * 100) }, () => Math.floor(dice() * 256));
    await noise.send(bytes, { transport: "udp", hostname: "127.0.0.1", port: server.port });
  }
  noise.close();
  await assert.rejects(askTcp(server.port, [new Uint8Array(0)]), /was ended|reset/i);
  const answer = decoded(await askUdp(server.port, questionBytes("good.example")));
  assert.deepEqual(answersOf(answer), ["good.example A 1.1.1.1 30"]);
});

Deno.test("a TCP connection pipelines questions, and a slow one does not block others", async () => {
  await using upstream = await fakeUpstream(() => []);
  await using server = await dnsServer({
    table: { "good.example": external("1.1.1.1") },
    upstreamTimeout: 500,
    tuning: { upstreamPort: upstream.port },
  });
  const slow = questionBytes("slow.example", "A", { id: 1 });
  const quick = Array.from({ length: 100 }, (_, at) => questionBytes("good.example", "A", { id: 100 + at }));
  const answers = (await askTcp(server.port, [slow, ...quick])).map(decoded);
  assert.deepEqual(answers.map(({ id }) => id), [...quick.map((_, at) => 100 + at), 1]);
  assert.equal(answers.at(-1)?.rcode, "SERVFAIL");
});

Deno.test("an idle TCP connection is closed, also within a message", async () => {
  await using server = await dnsServer({ table: {}, tuning: { idle: 50 } });
  for (const bytes of [new Uint8Array(0), Uint8Array.of(0, 40, 1, 2)]) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    await connection.write(bytes);
    const read = await connection.read(new Uint8Array(9)).catch(() => null);
    assert.equal(read, null);
    connection.close();
  }
});

Deno.test("port 53 needs root: other users serve the default port", async () => {
  const fail = await dnsServer({ address: "127.0.0.99:53", uid: 1337 }).catch((error) => error);
  if ("port" in fail) {
    assert.equal(fail.port, 15053);
    await fail.close();
  } else assert.match(String(fail), /15053/);
});

// systemd-resolved has 127.0.0.53.
testWhen(
  Deno.build.os !== "linux" || Deno.uid() !== 0 ? "it needs root on Linux" : undefined,
  "on port 53 as root questions are forwarded before the first table",
  async () => {
    await using upstream = await fakeUpstream((question) => [addressAnswer(question, ["192.0.2.99"])]);
    await using server = await dnsServer({ address: "127.0.0.98:53", uid: 0, tuning: { upstreamPort: upstream.port } });
    const answer = decoded(await askUdp(server.port, questionBytes("istiod.example"), "127.0.0.98"));
    assert.deepEqual(answersOf(answer), ["istiod.example A 192.0.2.99 5"]);
  },
);
