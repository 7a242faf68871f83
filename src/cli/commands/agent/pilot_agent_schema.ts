/**
 * Schema of `pilot-agent version -o json`, with Istio's fields. Import only types from this file, so that printing does
 * not load zod.
 */
import { z } from "zod";

export const PILOT_AGENT_VERSION = z.strictObject({
  clientVersion: z.strictObject({
    golang_version: z.literal("").describe("empty, because this program is not written in Go"),
    revision: z.string(),
    status: z.string(),
    tag: z.string(),
    version: z.string(),
  }),
}).describe("The output of `pilot-agent version -o json`");

export type PilotAgentVersion = z.infer<typeof PILOT_AGENT_VERSION>;
