/** The JSON of `iptables verify --output json`. Import it for types only: printing needs no zod. */
import { z } from "zod";
import { FLOW_KINDS } from "./flows.ts";

const FLOW = z.strictObject({
  flow: z.enum(FLOW_KINDS),
  family: z.enum(["IPv4", "IPv6"]),
  target: z.string().nullable().describe("where the connection went; null if there was none"),
  port: z.int().describe("the port where it should arrive"),
  result: z.enum(["proved", "escaped", "not provable"]),
  reason: z.string().describe("how it was proved, where it went, or why nothing can be said"),
});

/** What the verification of the rules found. */
export const VERIFICATION = z.strictObject({
  proved: z.boolean().describe("true where the exit code is 0"),
  flows: z.array(FLOW).readonly(),
}).describe("The output of `kubectl mesh iptables verify --output json`");

export type Verification = Readonly<z.infer<typeof VERIFICATION>>;
