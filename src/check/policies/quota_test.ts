import assert from "node:assert/strict";
import { quotaFor } from "./quota.ts";

const ROWS: readonly (readonly [message: string, hard: Readonly<Record<string, string>> | undefined])[] = [
  [
    'pods "a" is forbidden: exceeded quota: small, requested: requests.cpu=110m, used: requests.cpu=4, limited: requests.cpu=4',
    { "requests.cpu": "4220m" },
  ],
  [
    "exceeded quota: small, requested: limits.memory=1Gi,pods=1, used: limits.memory=512Mi,pods=3, " +
    "limited: limits.memory=1Gi,pods=3",
    { "limits.memory": "3Gi", pods: "5" },
  ],
  ["exceeded quota: small, requested: pods=many, used: pods=1, limited: pods=1", undefined],
  ["failed quota: small: must specify requests.cpu for: app", undefined],
  ["", undefined],
];

for (const [message, hard] of ROWS) {
  Deno.test(`the quota of an error is raised by two pods: ${message}`, () => {
    const patch = `kubectl patch resourcequota/small -n shop --type=merge -p '${JSON.stringify({ spec: { hard } })}'`;
    const shown = quotaFor(message, "shop").map(({ risk, steps }) => [risk, ...steps.map(({ command }) => command)]);
    assert.deepEqual(shown, hard === undefined ? [] : [["loosens", patch]]);
  });
}
