/** Fuzzes DNS messages: questions from the application, and responses from other servers. */
import { Buffer } from "node:buffer";
import dnsPacket from "dns-packet";
import { errorAnswer, errorReply, tableAnswer, truncate } from "../../../src/agent/dns/server/answer.ts";
import { buildLookup, find } from "../../../src/agent/dns/server/lookup.ts";
import { isAnswerTo, restoreQuestion } from "../../../src/agent/dns/upstream/ask.ts";
import { AnswerCache, cacheKey } from "../../../src/agent/dns/upstream/cache.ts";
import { nameOf, type Query, readQuery } from "../../../src/agent/dns/wire.ts";
import { type FuzzReader, holds } from "../reader.ts";

const question = (name: string, type: "A" | "AAAA" = "A") =>
  new Uint8Array(dnsPacket.encode({
    type: "query",
    id: 7,
    flags: dnsPacket.RECURSION_DESIRED,
    questions: [{ type, name }],
    additionals: [{ type: "OPT", name: ".", udpPayloadSize: 1232, flags: 0, options: [] }],
  }));
const answer = new Uint8Array(dnsPacket.encode({
  type: "response",
  id: 7,
  questions: [{ type: "A", name: "a.example" }],
  answers: [{ type: "CNAME", name: "a.example", ttl: 60, data: "b.example" }, {
    type: "A",
    name: "b.example",
    ttl: 60,
    data: "10.0.0.1",
  }],
  authorities: [{ type: "NS", name: "example", ttl: 60, data: "ns.example" }],
}));

const LOOKUP = buildLookup([
  ["a.example", {
    ips: Array.from({ length: 40 }, (_, i) => `10.0.0.${i}`),
    registry: "",
    shortname: "",
    namespace: "",
    altHosts: [],
  }],
  ["*.wild.example", { ips: ["10.0.0.2", "::1"], registry: "", shortname: "", namespace: "", altHosts: [] }],
], { namespace: "n", domain: "n.svc.cluster.local" });

const ASKED = readQuery(question("a.example"));

export const DNS: FuzzReader = {
  name: "dns",
  seeds: [question("a.example"), question("x.wild.example", "AAAA"), question("other.test"), answer],
  words: [
    "\x01a",
    "\x07example\x00",
    "\x00\x01\x00\x01",
    "\x00\x1c\x00\x01",
    "\xc0\x0c",
    "\xc0\xff",
    "\x00\x29",
    "\x3f",
    "\x40",
    "\x00\x00\xff\xff",
  ],
  open() {
    const cache = new AnswerCache({ maxBytes: 1 << 16, now: () => 0, random: () => 0 });
    return (input) => {
      readAnswer(input, cache);
      const query = readQuery(input);
      if (query === undefined) return false;
      if ("rcode" in query) {
        const reply = errorReply(input, query.rcode);
        holds(reply.length >= 12 && (reply[3] ?? 0) % 16 === query.rcode, "an error reply has no header");
        return false;
      }
      answerFrom(query);
      return true;
    };
  },
};

/** Checks that the response from the table answers the question and that a DNS library can read it. */
function answerFrom(query: Query): void {
  nameOf(query.name);
  cacheKey(query);
  const found = find(LOOKUP, undefined, query.name, query.type);
  const reply = found === undefined ? errorAnswer(query, 3) : tableAnswer(query, found, query.udpSize, () => 0);
  holds(reply.length <= query.udpSize, "an answer is longer than its client takes");
  if (found !== undefined) holds(isAnswerTo(reply, query, query.bytes), "an answer is not one to its question");
  const decoded = dnsPacket.decode(Buffer.from(reply));
  holds(decoded.id === ((query.bytes[0] ?? 0) << 8 | (query.bytes[1] ?? 0)), "an answer has another id");
}

function readAnswer(input: Uint8Array<ArrayBuffer>, cache: AnswerCache): void {
  if (ASKED === undefined || "rcode" in ASKED) return;
  if (!isAnswerTo(input, ASKED, ASKED.bytes)) return;
  const cut = truncate(input, ASKED.questionEnd, 512);
  holds(cut.length <= Math.max(512, ASKED.questionEnd), "a cut answer is longer than its limit");
  const key = cacheKey(ASKED) ?? "";
  cache.put(key, input, ASKED);
  cache.find(key);
  restoreQuestion(input.slice(), ASKED);
}
