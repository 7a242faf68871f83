import assert from "node:assert/strict";
import type { Answer, Station } from "../answer_schema.ts";
import { withTrace } from "./trace_proof.ts";

const KERNEL: Station = {
  ...{ pod: "", side: "client" },
  ...{ kind: "kernel", name: "rule", source: "seen", result: "ok", message: "it is sent to port 15001" },
  detail: { port: 15001 },
};
const ANSWER: Answer = {
  ...{ pod: "", direction: "outbound", verdict: "reaches", reason: "It reaches", fix: "", clusters: [], endpoints: [] },
  stations: [{ ...KERNEL, kind: "application", detail: {} }, KERNEL, { ...KERNEL, side: "server" }],
};
const seen = (text: string, port: number | undefined) => ({ ends: "a -> b", lines: [], ending: { text, port } });

Deno.test("a trace that agrees proves the kernel's station, and no other", () => {
  const { stations, verdict } = withTrace(ANSWER, seen("it is redirected to port 15001", 15001));
  assert.deepEqual(stations.map(({ source }) => source), ["seen", "proved", "seen"]);
  assert.equal(stations[1]?.message, "it is sent to port 15001; trace: a -> b: it is redirected to port 15001");
  assert.equal(verdict, "reaches");
});

Deno.test("a trace that contradicts makes the verdict unknown, and removes the fix", () => {
  const decided = { kind: "Sidecar", namespace: "shop", name: "web", field: "spec.egress" };
  const refused: Answer = { ...ANSWER, verdict: "refused", fix: "change spec.egress", decided };
  const { stations, verdict, reason, ...other } = withTrace(refused, seen("no rule redirects it", undefined));
  assert.deepEqual([stations[1]?.result, verdict], ["error", "unknown"]);
  assert.match(reason, /no rule redirects it$/);
  assert.deepEqual([other.fix, other.decided], ["", undefined]);
});

Deno.test("a trace without a packet changes no result", () => {
  const { stations, verdict } = withTrace(ANSWER, "the kernel reported no packet");
  assert.deepEqual([stations[1]?.source, stations[1]?.result, verdict], ["seen", "ok", "reaches"]);
  assert.match(stations[1]?.message ?? "", /; trace: the kernel reported no packet$/);
});
