/** Cases of our own for releases with `templates`: the manifests and settings that the latest release is asked about. */
import { isMap, newMap, type Value, type ValueMap } from "../../../src/base/value.ts";
import { BUILT_IN } from "../../../src/inject/default/mod.ts";
import { parseYaml } from "../../../src/yaml/mod.ts";
import { ANNOTATIONS } from "../inject/own/annotations.ts";
import { type Data, type OwnCase, pod, text } from "../inject/own/case.ts";
import { SETTINGS } from "../inject/own/settings.ts";
import { WORKLOADS } from "../inject/own/workloads.ts";
import type { Question } from "../inject/question.ts";
import { laterConfig } from "./later_configs.ts";

/** The releases that are asked. */
export type Later = "1.12" | "1.16" | "1.22" | "1.26";

export const LATER: readonly Later[] = ["1.12", "1.16", "1.22", "1.26"];

/** A question to a release. */
export interface LaterCase extends Question {
  readonly release: Later;
}

/** The first release of the four that has native sidecars. */
const NATIVE = "1.22";

/** The cases of the latest release, without those that have templates of their own. */
const BOTH = [...WORKLOADS, ...ANNOTATIONS, ...SETTINGS].filter(({ templates, config, values }) =>
  templates === undefined && config === undefined && typeof values !== "string"
);

function controlled(name: string, controller: Data, labels: Data = {}): OwnCase {
  const ownerReferences = [{ uid: "u", controller: true, ...controller }];
  const metadata = { generateName: "shop-", ownerReferences };
  return { name, like: [], manifest: text(pod({ labels: { app: "shop", ...labels } }, metadata)) };
}

const CONTROLLED: readonly OwnCase[] = [
  controlled("a pod of a Deployment", { apiVersion: "apps/v1", kind: "ReplicaSet", name: "shop-59fd8c4b7" }, {
    "pod-template-hash": "59fd8c4b7",
  }),
  controlled("a pod of a Rollout", { apiVersion: "apps/v1", kind: "ReplicaSet", name: "shop-59fd8c4b7" }, {
    "rollouts-pod-template-hash": "59fd8c4b7",
  }),
  controlled("a pod of a CronJob", { apiVersion: "batch/v1", kind: "Job", name: "nightly-1606300000" }),
];

/** Native sidecars of an earlier injection are asked about where they are known, and owners where kube-inject guesses them. */
function askedOf(release: Later): readonly OwnCase[] {
  return release >= NATIVE ? [...BOTH, ...CONTROLLED] : BOTH.filter(({ name }) => name !== "injected twice");
}

export const LATER_CASES: readonly LaterCase[] = LATER.flatMap((release) => {
  const config = laterConfig(release);
  return askedOf(release).map((one) => asked(one, release, config));
});

function asked(
  { name, manifest, values, mesh = "", native = true }: OwnCase,
  release: Later,
  config: string,
): LaterCase {
  // The tag says which release it is.
  const global = { hub: "example.com", tag: `${release}.1` };
  const base = overlaid(parseYaml(BUILT_IN.values), typeof values === "string" ? {} : values ?? {});
  return {
    name: `${name}, ${release}`,
    release,
    settings: { config, values: JSON.stringify(overlaid(base, { global })), mesh },
    manifest,
    native: native && release >= NATIVE,
    revision: "default",
  };
}

function overlaid(below: Value, above: Value): Value {
  if (!isMap(below) || !isMap(above)) return above;
  const result: ValueMap = Object.assign(newMap(), below);
  for (const [key, value] of Object.entries(above)) result[key] = overlaid(below[key] ?? null, value);
  return result;
}
