/** All of our own cases, with their configurations and Istio's recorded answers. */
import { isMap, newMap, type Value, type ValueMap } from "../../../../src/base/value.ts";
import { BUILT_IN } from "../../../../src/inject/default/mod.ts";
import { parseYaml } from "../../../../src/yaml/mod.ts";
import type { Question, Settings } from "../question.ts";
import { ANNOTATIONS } from "./annotations.ts";
import type { OwnCase } from "./case.ts";
import { SETTINGS } from "./settings.ts";
import { TEMPLATE_CASES } from "./templates.ts";
import { WORKLOADS } from "./workloads.ts";

export const OWN_CASES: readonly OwnCase[] = [...WORKLOADS, ...ANNOTATIONS, ...SETTINGS, ...TEMPLATE_CASES];

/** Returns the configuration of a case: the built-in configuration with the changes of the case. */
export function settingsOf({ values, mesh, templates, config }: Partial<OwnCase>): Settings {
  return {
    config: config ?? (templates === undefined ? BUILT_IN.config : merged(BUILT_IN.config, { templates })),
    values: typeof values === "string"
      ? values
      : values === undefined
      ? BUILT_IN.values
      : merged(BUILT_IN.values, values),
    mesh: mesh ?? BUILT_IN.mesh,
  };
}

/** Returns the question to Istio for a case. */
export function questionOf(one: OwnCase): Question {
  const { name, manifest, native = true } = one;
  return { name, settings: settingsOf(one), manifest, native, revision: "default" };
}

/** Merges mappings over a YAML text and returns JSON. */
function merged(text: string, over: Value): string {
  return JSON.stringify(overlaid(parseYaml(text), over));
}

function overlaid(below: Value, above: Value): Value {
  if (!isMap(below) || !isMap(above)) return above;
  const result: ValueMap = Object.assign(newMap(), below);
  for (const [key, value] of Object.entries(above)) result[key] = overlaid(below[key] ?? null, value);
  return result;
}
