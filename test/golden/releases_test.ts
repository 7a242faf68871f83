/** Outputs of releases with `templates`, from 1.12 on, to our own cases: test/oracle/legacy recorded them. */
import assert from "node:assert/strict";
import { MeshError } from "../../src/base/errors.ts";
import { decode } from "../../src/kube/mod.ts";
import { parseYaml, toYaml } from "../../src/yaml/mod.ts";
import { applyPatch } from "../support/kube/json_patch.ts";
import { injectAdmitted } from "./legacy_run.ts";
import { differences, documents } from "../oracle/inject/compare.ts";
import { type Answer, Ours } from "../oracle/inject/question.ts";
import { LATER_CASES, type LaterCase } from "../oracle/legacy/later_cases.ts";
import { type LegacyAnswer, readLegacyAnswers } from "../oracle/legacy/recorded.ts";

/** Differences on purpose: docs/inject.md names them. */
const KNOWN = [
  {
    reason: "fields of a pod that the release's version of Kubernetes lacks stay, where Istio drops them",
    shows: /^(?:a native sidecar of the user, with a probe, 1\.1[26]|probes of every kind, .*, 1\.12)$/,
    difference: /restartPolicy|grpc/,
  },
  {
    reason: "Prometheus is sent to the port of the pod's own agent, where istiod, and all of 1.12, name the mesh's port",
    shows: /^(?:a review, a proxy's settings, |the status port of the proxy's settings is scraped, 1\.12$)/,
    difference: /prometheus\.io\/port: want "15020", got "15999"$/,
  },
  {
    reason: "what an earlier injection made is made again, which Istio does from 1.17 on",
    shows: /^a review, a pod that is injected already, 1\.1[26]$/,
    difference: /\/image: want "old"/,
  },
];

Deno.test("our own cases get what 1.12, 1.16, 1.22 and 1.26 answered", async () => {
  const answers = await readLegacyAnswers("later");
  assert.deepEqual(answers.map(({ name }) => name), LATER_CASES.map(({ name }) => name), "record the answers again");
  const ours = new Ours();
  const wrong: string[] = [];
  const seen = new Set<object>();
  for (const [index, one] of LATER_CASES.entries()) {
    const answer = answers[index] ?? { name: "" };
    const found = one.review ? reviewed(answer, one) : compared(answer, await ours.answer(one));
    const known = KNOWN.filter(({ shows }) => shows.test(one.name));
    if (found.length > 0) for (const each of known) seen.add(each);
    const left = found.filter((text) => !known.some(({ difference }) => difference.test(text)));
    wrong.push(...left.map((text) => `${one.name}: ${text}`));
  }
  assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} differences`);
  assert.deepEqual(KNOWN.filter((each) => !seen.has(each)).map(({ reason }) => reason), [], "known, but not seen");
});

function compared({ output = "", error }: LegacyAnswer, ours: Answer): readonly string[] {
  if (error !== undefined) return "error" in ours ? [] : [`only Istio answers with an error: ${error}`];
  return "error" in ours ? [`an error: ${ours.error}`] : differences(documents(output), ours.documents);
}

/** The webhook's patch, applied. */
function reviewed({ patch, error }: LegacyAnswer, { manifest, settings }: LaterCase): readonly string[] {
  const pod = decode(parseYaml(manifest, ""), "Pod").value;
  const inject = () => injectAdmitted(pod, settings, "trade");
  if (error !== undefined) {
    assert.throws(inject, MeshError);
    return [];
  }
  const [want, got] = [applyPatch(pod, JSON.parse(JSON.stringify(patch))), inject()];
  return differences(documents(toYaml(want)), documents(toYaml(got)));
}
