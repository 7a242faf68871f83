import assert from "node:assert/strict";
import { addressAnswer, decoded, packet, questionBytes } from "../../../test/support/dns/client.ts";
import { fc } from "../../../test/support/properties.ts";
import { errorReply, truncate } from "./server/answer.ts";
import { isAnswerTo } from "./upstream/ask.ts";
import { nameOf, readQuery, readRecords, wireName } from "./wire.ts";

Deno.test("readQuery(): name in lower case, type, and UDP size", () => {
  const read = readQuery(questionBytes("WWW.Example.com", "AAAA", { udpSize: 1232 }));
  assert.ok(read !== undefined && "name" in read);
  assert.deepEqual([nameOf(read.name), read.type, read.udpSize, read.questionEnd], ["www.example.com", 28, 1232, 33]);
  const plain = readQuery(questionBytes("example.com"));
  assert.ok(plain !== undefined && "name" in plain);
  assert.equal(plain.udpSize, 512);
});

const changed = (at: number, ...bytes: number[]) => {
  const message = questionBytes("example.com", "A", { udpSize: 1232 }).slice();
  message.set(bytes, at);
  return message;
};

const NO_QUERIES: readonly (readonly [string, Uint8Array, object | undefined])[] = [
  ["nothing", new Uint8Array(0), undefined],
  ["half a head", new Uint8Array(11), undefined],
  ["an answer", changed(2, 0x80), undefined],
  ["an update", changed(2, 5 << 3), { rcode: 4 }],
  ["no question", changed(4, 0, 0), { rcode: 1 }],
  ["two questions", changed(4, 0, 2), { rcode: 1 }],
  ["many additional records", changed(10, 0, 3), { rcode: 1 }],
  ["more answers than a question has", changed(6, 0, 2), { rcode: 1 }],
  ["a name that is a pointer to itself", changed(12, 0xc0, 12), { rcode: 1 }],
  ["a label of a reserved kind", changed(12, 0x40), { rcode: 1 }],
  ["a name that is not whole", questionBytes("example.com").slice(0, 20), { rcode: 1 }],
  ["a question that is not whole", questionBytes("example.com").slice(0, 27), { rcode: 1 }],
  ["a record that is not whole", changed(10, 0, 2), { rcode: 1 }],
];

Deno.test("readQuery(): messages that are not questions are ignored, or rejected as miekg/dns does", () => {
  for (const [what, bytes, expected] of NO_QUERIES) assert.deepEqual(readQuery(bytes), expected, what);
});

Deno.test("a name has at most 255 bytes", () => {
  const long = (last: number) => [63, 63, 63, last].map((length) => "a".repeat(length)).join(".");
  assert.ok(wireName(long(61)) !== undefined);
  assert.equal(wireName(long(62)), undefined);
  const asked = (name: string) => readQuery(questionBytes(name));
  assert.ok("name" in (asked(long(61)) ?? {}));
  assert.deepEqual(asked(long(62)), { rcode: 1 });
  for (const name of ["", ".", "a..b", "a b", "ä", "a".repeat(64)]) assert.equal(wireName(name), undefined, name);
});

Deno.test("readQuery() never throws, and rejected messages can be answered", () => {
  const noise = fc.uint8Array({ maxLength: 600 });
  const query = readQuery(questionBytes("example.com"));
  assert.ok(query !== undefined && "name" in query);
  const message = query.bytes;
  const answer = addressAnswer(decoded(message), ["1.2.3.4", "1.2.3.5"]);
  const nearly = fc.tuple(fc.nat(answer.length - 1), fc.nat(255), fc.nat(answer.length)).map(([at, byte, end]) => {
    const bytes = answer.slice(0, end);
    if (at < end) bytes[at] = byte;
    return bytes;
  });
  fc.assert(
    fc.property(fc.oneof(noise, nearly), (bytes) => {
      const read = readQuery(bytes);
      if (read !== undefined && "rcode" in read) assert.equal(errorReply(bytes, read.rcode).length, 12);
      isAnswerTo(bytes, query, message);
      readRecords(bytes, 12, 100);
      if (bytes.length >= query.questionEnd) {
        assert.ok(truncate(bytes, query.questionEnd, 512).length <= 512);
      }
    }),
    { numRuns: 2000 },
  );
});

Deno.test("isAnswerTo(): id, question and completeness; an error may omit the question", () => {
  const message = questionBytes("Example.com", "A", { id: 7 });
  const query = readQuery(message);
  assert.ok(query !== undefined && "name" in query);
  const asked = decoded(message);
  const good = addressAnswer(asked, ["1.2.3.4"]);
  const question = { type: "A", class: "IN" };
  const CASES: readonly (readonly [string, Uint8Array, boolean])[] = [
    ["the answer", good, true],
    [
      "in another case",
      addressAnswer({ ...asked, questions: [{ ...question, name: "EXAMPLE.COM" }] }, ["1.2.3.4"]),
      true,
    ],
    ["another number", addressAnswer({ ...asked, id: 8 }, ["1.2.3.4"]), false],
    [
      "another name",
      addressAnswer({ ...asked, questions: [{ ...question, name: "example.org" }] }, ["1.2.3.4"]),
      false,
    ],
    [
      "another type",
      addressAnswer({ ...asked, questions: [{ ...question, type: "AAAA", name: "Example.com" }] }, []),
      false,
    ],
    ["a question", message, false],
    ["cut off", good.slice(0, -1), false],
    ["a failure without the question", packet.encode({ type: "response", id: 7, flags: 2 }), true],
    ["no failure, and no question", packet.encode({ type: "response", id: 7, flags: 0 }), false],
  ];
  for (const [what, bytes, expected] of CASES) assert.equal(isAnswerTo(bytes, query, message), expected, what);
});
