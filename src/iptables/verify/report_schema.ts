/** The JSON of `iptables verify --output json`. Import only the types, because printing must not load zod. */
import { z } from "zod";
import { FLOW_KINDS } from "./flows.ts";

const FLOW = z.strictObject({
  flow: z.enum(FLOW_KINDS),
  family: z.enum(["IPv4", "IPv6"]),
  target: z.string().nullable().describe("destination of the connection; null if no connection was made"),
  port: z.int().describe("port at which the connection should arrive"),
  result: z.enum(["proved", "escaped", "not provable"]),
  reason: z.string().describe("evidence for the result, or the reason why the flow is not provable"),
});

/** The result of verifying the rules. */
export const VERIFICATION = z.strictObject({
  proved: z.boolean().describe("true if the exit code is 0"),
  flows: z.array(FLOW).readonly(),
}).describe("The output of `kubectl mesh iptables verify --output json`");

export type Verification = Readonly<z.infer<typeof VERIFICATION>>;
