import assert from "node:assert/strict";
import { addressAnswer, decoded, type Message, packet, questionBytes } from "../../../../test/support/dns/client.ts";
import { type Query, readQuery } from "../wire.ts";
import { AnswerCache, cacheKey } from "./cache.ts";

function query(...question: Parameters<typeof questionBytes>): Query {
  const read = readQuery(questionBytes(...question));
  return read !== undefined && "name" in read ? read : assert.fail("no question");
}

const keyOf = (...question: Parameters<typeof questionBytes>) => cacheKey(query(...question));

function setting(maxBytes = 100_000, random = () => 0) {
  const clock = { now: 5000 };
  const cache = new AnswerCache({ maxBytes, random, now: () => clock.now });
  /** Keeps an answer to `www.example.com`. */
  const put = (message: Partial<Message>, addresses: readonly string[] = []) => {
    const asked = query("www.example.com");
    cache.put("k", addressAnswer(decoded(asked.bytes), addresses, message), asked);
  };
  const find = () => {
    const answer = cache.find("k");
    return answer === undefined ? undefined : decoded(answer);
  };
  return { cache, clock, put, find };
}

Deno.test("cacheKey() differs by name, type, flags and EDNS, but not by ID and letter case", () => {
  const keys = [
    keyOf("www.example.com"),
    keyOf("w.example.com"),
    keyOf("www.example.com", "AAAA"),
    keyOf("www.example.com", "A", { udpSize: 1232 }),
    keyOf("www.example.com", "A", { udpSize: 4096 }),
  ];
  const checking = questionBytes("www.example.com");
  checking[3] = 0x10;
  const read = readQuery(checking);
  keys.push(read !== undefined && "name" in read ? cacheKey(read) : undefined);
  assert.equal(new Set(keys).size, 6);
  assert.ok(!keys.includes(undefined));
  assert.equal(keyOf("WWW.Example.com", "A", { id: 1 }), keyOf("www.example.com", "A", { id: 2 }));
});

Deno.test("cacheKey(): ANY, zone transfers, other classes and questions with EDNS options are not cached", () => {
  assert.equal(keyOf("example.com", "ANY"), undefined);
  assert.equal(keyOf("example.com", "AXFR"), undefined);
  const chaos = questionBytes("version.bind", "TXT");
  chaos[chaos.length - 1] = 3;
  const read = readQuery(chaos);
  assert.equal(read !== undefined && "name" in read ? cacheKey(read) : "no question", undefined);
  const plain = questionBytes("example.com", "A", { udpSize: 1232 });
  // A cookie of eight bytes.
  const withCookie = Uint8Array.from([...plain.slice(0, -2), 0, 12, 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]);
  const asked = readQuery(withCookie);
  assert.equal(asked !== undefined && "name" in asked ? cacheKey(asked) : "no question", undefined);
});

Deno.test("an answer is cached for its TTL, and the returned TTL decreases", () => {
  const { clock, put, find } = setting();
  put({}, ["192.0.2.1", "192.0.2.2"]);
  for (const [later, ttl] of [[0, 5], [999, 5], [1000, 4], [4999, 1]] as const) {
    clock.now = 5000 + later;
    assert.deepEqual(find()?.answers?.map((record) => record.ttl), [ttl, ttl], `${later} ms later`);
  }
  clock.now = 10_000;
  assert.equal(find(), undefined);
});

Deno.test("the shortest TTL counts, and an hour at most", () => {
  const record = (ttl: number) =>
    ({ type: "A", name: "www.example.com", ttl, class: "IN", data: "192.0.2.1" }) as const;
  for (const [ttls, seconds] of [[[60, 20, 90], 20], [[86_400], 3600]] as const) {
    const { clock, put, find } = setting();
    put({ answers: ttls.map(record) });
    clock.now += seconds * 1000 - 1;
    assert.ok(find() !== undefined);
    clock.now += 1;
    assert.equal(find(), undefined, `${seconds}`);
  }
});

/** The owner says how long a name is absent. */
const soa = (ttl: number, minimum: number) =>
  ({
    type: "SOA",
    name: "example.com",
    ttl,
    class: "IN",
    data: { mname: "ns.example.com", rname: "a.example.com", serial: 1, refresh: 2, retry: 3, expire: 4, minimum },
  }) as const;

Deno.test("a negative answer is cached for the time in the SOA record, at most five minutes", () => {
  const NXDOMAIN = packet.RECURSION_DESIRED | 3;
  for (
    const [what, flags, authority, seconds] of [
      ["an absent name", NXDOMAIN, soa(60, 30), 30],
      ["an absent type", packet.RECURSION_DESIRED, soa(20, 30), 20],
      ["a day", NXDOMAIN, soa(86_400, 86_400), 300],
    ] as const
  ) {
    const { clock, put, find } = setting();
    put({ flags, authorities: [authority] });
    clock.now += seconds * 1000 - 1;
    assert.ok(find() !== undefined, what);
    clock.now += 1;
    assert.equal(find(), undefined, what);
  }
});

Deno.test("errors, truncated answers, a TTL of 0 and negative answers without an SOA record are not cached", () => {
  const SERVFAIL = packet.RECURSION_DESIRED | 2;
  const NXDOMAIN = packet.RECURSION_DESIRED | 3;
  const zero = { type: "A", name: "www.example.com", ttl: 0, class: "IN", data: "192.0.2.1" } as const;
  for (
    const [what, message, addresses] of [
      ["an error", { flags: SERVFAIL }, ["192.0.2.1"]],
      ["a cut answer", { flags: packet.TRUNCATED_RESPONSE }, ["192.0.2.1"]],
      ["a TTL of 0", { answers: [zero] }, []],
      ["an absent name without a time", { flags: NXDOMAIN }, []],
      ["an absent type without a time", {}, []],
    ] as const
  ) {
    const { put, find, cache } = setting();
    put("answers" in message ? { answers: [...message.answers] } : message, addresses);
    assert.deepEqual([find(), cache.size], [undefined, 0], what);
  }
});

Deno.test("addresses are rotated, so that clients use all of them", () => {
  let turn = 0;
  const { put, find } = setting(100_000, () => turn);
  put({}, ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
  const firsts = [0, 0.34, 0.67].map((random) => {
    turn = random;
    const [first, ...rest] = find()?.answers?.map(({ data }) => String(data)) ?? [];
    assert.equal(new Set([first, ...rest]).size, 3);
    return first;
  });
  assert.deepEqual(firsts, ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
});

Deno.test("the cache is bounded: the least recently used answer is removed first, and a huge answer is not cached", () => {
  const asked = query("www.example.com");
  const answer = addressAnswer(decoded(asked.bytes), ["192.0.2.1"]);
  const { cache } = setting(3 * (answer.length + 201));
  for (const key of ["a", "b", "c"]) cache.put(key, answer, asked);
  assert.ok(cache.find("a") !== undefined);
  cache.put("d", answer, asked);
  assert.deepEqual(["a", "b", "c", "d"].map((key) => cache.find(key) !== undefined), [true, false, true, true]);
  for (let index = 0; index < 1000; index++) cache.put("a", answer, asked);
  assert.equal(cache.size, 3);
  const addresses = Array.from({ length: 1200 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
  cache.put("huge", addressAnswer(decoded(asked.bytes), addresses), asked);
  assert.equal(cache.find("huge"), undefined);
});
