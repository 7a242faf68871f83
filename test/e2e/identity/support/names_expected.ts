/** Queries for all forms of all names of a table, with the expected answers. Source: docs/agent.md, "DNS". */
import { type NameQuestion, type NameReply, TRANSPORTS } from "./names_client.ts";
import { ADDRESS } from "./network.ts";
import { NAME_TABLE } from "./resources.ts";

/** The first search domain of the pod. */
const SEARCH = "test.svc.cluster.local";

/** A question with its answer. */
export interface Case {
  readonly question: NameQuestion;
  readonly reply: NameReply;
}

/** A name and its records. */
interface Known {
  readonly name: string;
  readonly ips: readonly string[];
  /** The target of the CNAME record, if the answer has one. */
  readonly canonical?: string;
}

/** Hand-written: a host, and all names that pod `a` of the namespace `test` may use for it. */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  "b.test.svc.cluster.local": ["b.test.svc.cluster.local", "b.test.svc", "b.test", "b"],
  "web.other.svc.cluster.local": ["web.other.svc.cluster.local", "web.other.svc", "web.other"],
  "outer.org": ["outer.org"],
  "six.org": ["six.org"],
  "*.wild.org": ["one.wild.org", "two.one.wild.org", "*.wild.org"],
};

const CASES = [
  (name: string) => name,
  (name: string) => name.toUpperCase(),
  (name: string) => name.replace(/[a-z]/g, (letter, at: number) => at % 3 === 0 ? letter.toUpperCase() : letter),
];

/** All questions, over both transports. */
export function tableCases(): readonly Case[] {
  return Object.entries(NAME_TABLE).flatMap(([host, { ips }]) => {
    const names = CALLED[host] ?? [];
    const known = names.flatMap((name): Known[] => [{ name, ips }, { ...searched(host, name), ips }]);
    return known.flatMap(spelled);
  });
}

/** With the search domain: the host itself, or a CNAME to a name of the table. */
function searched(host: string, name: string): Omit<Known, "ips"> {
  const whole = `${name}.${SEARCH}`;
  if (whole === host) return { name: whole };
  return { name: whole, canonical: host.startsWith("*") ? host : name };
}

function spelled({ name, ips, canonical }: Known): readonly Case[] {
  return CASES.flatMap((spell) => [
    ...both(spell(name), "A", fromTable(spell(name), "A", ips.filter((ip) => !ip.includes(":")), canonical)),
    ...both(spell(name), "AAAA", fromTable(spell(name), "AAAA", ips.filter((ip) => ip.includes(":")), canonical)),
    // The table has no other record types, and upstream servers do not know names of the mesh.
    ...both(spell(name), "TXT", NOT_THERE),
  ]);
}

type Answer = Omit<NameReply, "asked">;

const NOT_THERE: Answer = { rcode: "NXDOMAIN", isAuthoritative: false, isCut: false, answers: [] };
/** No upstream server answered, or there is no table yet. */
export const FAILED: Answer = { ...NOT_THERE, rcode: "SERVFAIL" };

function fromTable(name: string, type: string, ips: readonly string[], canonical?: string): Answer {
  const alias = canonical === undefined || ips.length === 0 ? [] : [`${name} CNAME ${canonical} 30`];
  const addresses = ips.map((ip) => `${canonical ?? name} ${type} ${ip} 30`).toSorted();
  return { rcode: "NOERROR", isAuthoritative: true, isCut: false, answers: [...alias, ...addresses] };
}

/** The addresses of a host, as an answer. */
export function known(name: string, type: "A" | "AAAA", ips: readonly string[]): readonly Case[] {
  return both(name, type, fromTable(name, type, ips));
}

/** The answers of the upstream name server: unknown names, and names below example.com. */
export function outsideCases(): readonly Case[] {
  const there = (...answers: string[]): Answer => ({ ...NOT_THERE, rcode: "NOERROR", answers });
  return [
    // A name of another namespace, an unknown host, the parent of a wildcard, and the second search domain.
    ...["web", "web.test.svc.cluster.local", "nobody.org", "wild.org", "b.svc.cluster.local", "outer.org.cluster.local"]
      .flatMap((name) => [...both(name, "A", NOT_THERE), ...both(name, "AAAA", NOT_THERE)]),
    ...both("www.example.com", "A", there("www.example.com A 192.0.2.53 7")),
    ...both("www.example.com", "AAAA", there()),
    ...both("www.example.com", "TXT", there("www.example.com TXT from outside 7")),
    one("udp", "big.example.com", "TXT", { ...there(), isCut: true }),
    one("tcp", "big.example.com", "TXT", there(...Array(20).fill(`big.example.com TXT ${"x".repeat(200)} 7`))),
  ];
}

/** Questions over both transports that get the same answer. */
export function both(name: string, type: string, answer: Answer): readonly Case[] {
  return TRANSPORTS.map((transport) => one(transport, name, type, answer));
}

function one(transport: NameQuestion["transport"], name: string, type: string, answer: Answer): Case {
  return { question: { transport, name, type }, reply: { ...answer, asked: [{ name, type }] } };
}

/** A second table: one name of the first with another address, and one new name. */
export const OTHER_TABLE: typeof NAME_TABLE = {
  "b.test.svc.cluster.local": { ips: ["192.0.2.99"], registry: "Kubernetes", shortname: "b", namespace: "test" },
  "later.org": { ips: [ADDRESS.b, "2001:db8::7"], registry: "External" },
};
