/** Injection with an old configuration, through the public interface of the injector. */
import { isMap, newMap, type Value, type ValueMap } from "../../src/base/value.ts";
import { toYaml } from "../../src/yaml/mod.ts";
import {
  type Injector,
  injectPod,
  injection,
  newInjector,
  podOwner,
} from "../../src/inject/mod.ts";
import { changedText, type ChangedText } from "../support/changed_text.ts";

/** The texts of a configuration. */
export interface Settings {
  readonly config: string;
  readonly values?: string | undefined;
  readonly mesh?: string | undefined;
}

/** Loads a configuration. */
export function injectorOf({ config, values, mesh }: Settings, byHand: boolean): Injector {
  const source = (text: string | undefined, file: string) => text === undefined ? undefined : { text, file };
  return newInjector({
    config: { text: config, file: "config" },
    values: source(values, "values"),
    mesh: source(mesh, "mesh"),
    byHand,
    env: () => undefined,
    now: () => new Date(0),
  });
}

/** Injects a text like kube-inject. */
export function injectText(text: string, settings: Settings): Promise<ChangedText> {
  return changedText(text, injection(injectorOf(settings, true)), { file: "input" });
}

/** Injects a pod like the webhook. */
export function injectAdmitted(pod: ValueMap, settings: Settings, namespace = ""): ValueMap {
  return injectPod(pod, podOwner(pod, namespace), injectorOf(settings, false)).pod;
}

/** A YAML text, other mappings merged over it. */
export function overlaid(text: string, over: ValueMap, parse: (text: string) => Value): string {
  const value = parse(text);
  return toYaml(merged(isMap(value) ? value : newMap(), over));
}

function merged(below: ValueMap, above: ValueMap): ValueMap {
  const result: ValueMap = Object.assign(newMap(), below);
  for (const [key, value] of Object.entries(above)) {
    const old = result[key];
    result[key] = isMap(old) && isMap(value) ? merged(old, value) : value;
  }
  return result;
}
