/** The JSON of `iptables generate --output json`. Import only the types, because printing must not load zod. */
import { z } from "zod";

const FAMILY = z.enum(["IPv4", "IPv6"]);
const NEGATED = { negated: z.literal(true).exactOptional() };
const PORTS = z.array(z.strictObject({ first: z.int(), last: z.int() })).readonly();

const MATCH = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.enum(["inInterface", "outInterface"]), name: z.string() }),
  z.strictObject({ kind: z.enum(["source", "destination"]), cidr: z.string(), ...NEGATED }),
  z.strictObject({ kind: z.literal("protocol"), protocol: z.enum(["tcp", "udp"]) }),
  z.strictObject({ kind: z.enum(["sourcePorts", "ports"]), ports: PORTS, ...NEGATED }),
  z.strictObject({ kind: z.enum(["uid", "gid"]), owner: z.string(), ...NEGATED }),
  z.strictObject({ kind: z.literal("mark"), mark: z.int(), ...NEGATED }),
  z.strictObject({ kind: z.literal("connectionMark"), mark: z.int() }),
  z.strictObject({ kind: z.literal("connectionState"), states: z.array(z.string()).readonly() }),
]);

const TARGET = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("jump"), chain: z.string() }),
  z.strictObject({ kind: z.enum(["return", "accept", "drop", "saveMark", "restoreMark"]) }),
  z.strictObject({ kind: z.literal("redirect"), port: z.int() }),
  z.strictObject({ kind: z.literal("tproxy"), port: z.int(), mark: z.int() }),
  z.strictObject({ kind: z.literal("setMark"), mark: z.int() }),
  z.strictObject({ kind: z.literal("zone"), zone: z.int() }),
]);

const RULE = z.strictObject({
  family: FAMILY.exactOptional().describe("address family of the rule; absent if the rule is for both families"),
  table: z.enum(["nat", "mangle", "raw", "filter"]),
  chain: z.string(),
  insertAt: z.int().min(1).exactOptional().describe(
    "position of the rule in its chain, from 1; absent if the rule is appended",
  ),
  match: z.array(MATCH).readonly().describe("a packet matches if all conditions hold"),
  target: TARGET,
  why: z.string().describe("purpose of the rule"),
});

const POLICY_RULE = z.strictObject({ family: FAMILY, mark: z.int(), table: z.int() });
const ROUTE = z.strictObject({ family: FAMILY, table: z.int(), route: z.string() });

export const PLAN = z.strictObject({
  families: z.array(FAMILY).readonly(),
  rules: z.array(RULE).readonly(),
  policyRules: z.array(POLICY_RULE).readonly().describe(
    "policy rules, which send packets with the mark to the routing table",
  ),
  routes: z.array(ROUTE).readonly(),
  loopbackAddresses: z.array(z.string()).readonly().describe("addresses to add to the loopback interface"),
}).describe("The output of `kubectl mesh iptables generate --output json`");

export type PlanData = Readonly<z.infer<typeof PLAN>>;
