import assert from "node:assert/strict";
import type { Value } from "../../base/value.ts";
import { proxyIds } from "./openshift.ts";

const RANGE = "openshift.io/sa.scc.uid-range";
const GROUPS = "openshift.io/sa.scc.supplemental-groups";
const otherwise = { proxyUid: 1337, proxyGid: 1337 };

const ROWS: readonly (readonly [name: string, annotations: Readonly<Record<string, Value>>, ids: string])[] = [
  ["nothing", {}, "1337 1337"],
  ["start and size", { [RANGE]: "1000/100" }, "1099 1099"],
  ["start and end", { [RANGE]: "1000-1100" }, "1100 1100"],
  ["groups of their own, the first block", { [RANGE]: "1000/100", [GROUPS]: "2000/10,5000/10" }, "1099 2009"],
  ["groups that are none", { [RANGE]: "1000/100", [GROUPS]: "all" }, "1099 1337"],
  ["a size of none", { [RANGE]: "1000/0" }, "1337 1337"],
  ["beyond 32 bits", { [RANGE]: "4294967000/1000" }, "1337 1337"],
  ["no text", { [RANGE]: 5 }, "1337 1337"],
];

for (const [name, annotations, ids] of ROWS) {
  Deno.test(`proxyIds of a namespace with ${name}`, () => {
    const { proxyUid, proxyGid } = proxyIds(annotations, otherwise);
    assert.equal(`${proxyUid} ${proxyGid}`, ids);
  });
}
