/** Runs `check injection -f` on a text, without a cluster. */
import { explain, explainUnjudged } from "../../src/check/injection/explanation.ts";
import { offlineKnowledge } from "../../src/check/injection/knowledge.ts";
import { manifestTargets } from "../../src/check/injection/manifest_targets.ts";
import type { Injector } from "../../src/inject/mod.ts";

/** Returns the explanations for each workload, and for each document that cannot be read. */
export async function checkExplanations(text: string, injector: Injector) {
  const chunks = async function* () {
    yield await Promise.resolve(new TextEncoder().encode(text));
  };
  const targets = await manifestTargets([{ file: "input.yaml", chunks }], "default").catch(() => []);
  const knowledge = offlineKnowledge(injector);
  return await Promise.all(
    targets.map(async (target) => "verdict" in target ? explainUnjudged(target) : await explain(target, knowledge)),
  );
}

/** Returns the verdicts of these explanations. */
export async function checkVerdicts(text: string, injector: Injector): Promise<readonly string[]> {
  return (await checkExplanations(text, injector)).map(({ verdict }) => verdict);
}
