/** Compares the pods that two configurations produce from the same manifests. */
import { errorLine, MeshError, UsageError } from "../../base/errors.ts";
import { toYaml } from "../../yaml/mod.ts";
import { decide, type InjectionSnapshot, type Injector, injectPod } from "../../inject/mod.ts";
import { type ManifestTexts, targetsIn } from "../injection/manifest_targets.ts";
import { ownerOfTarget, podOf, type Target } from "../injection/target.ts";
import samples from "./samples.yaml" with { type: "text" };

/** One side of a comparison: a single configuration, or the configurations of all revisions of a snapshot. */
export interface Side {
  readonly name: string;
  /** Injectors by revision. A single configuration is one entry with an arbitrary key. */
  readonly injectors: ReadonlyMap<string, Injector>;
  /** Whether the side is a whole snapshot, to be compared revision by revision. */
  readonly isWhole: boolean;
  /** What the side knows about webhooks, namespaces and nodes: a snapshot, or a live cluster. */
  readonly cluster: InjectionSnapshot | "live" | undefined;
}

/** A pod after injection by each side. */
export interface PodPair {
  /** `deployment.apps/web`. Contains the revision if whole snapshots are compared. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** The pods of both sides, and the revisions that only one side contains. */
export interface Difference {
  readonly pods: readonly PodPair[];
  readonly missing: readonly string[];
}

/**
 * Injects the pods of manifests, or built-in samples, with both sides. Compares two whole snapshots revision by
 * revision. Throws a MeshError for a pod that a side refuses, and a UsageError if a snapshot of several revisions is
 * compared with one configuration.
 */
export async function differenceOf(
  [a, b]: readonly [Side, Side],
  inputs: readonly ManifestTexts[],
  namespace: string,
): Promise<Difference> {
  const targets = await targetsIn(inputs.length === 0 ? [SAMPLES] : inputs, namespace);
  const pods: PodPair[] = [];
  const missing: string[] = [];
  for (const { revision, before, after } of pairsOf(a, b)) {
    const of = revision === undefined ? "" : `, revision "${revision}"`;
    if (before === undefined || after === undefined) {
      missing.push(`Only "${before === undefined ? b.name : a.name}" has the revision "${revision}"`);
      continue;
    }
    pods.push(...targets.map((target) => ({
      name: `${target.workload}${of}`,
      before: podText(target, before, a.name),
      after: podText(target, after, b.name),
    })));
  }
  return { pods, missing };
}

const SAMPLES: ManifestTexts = {
  file: "samples",
  async *chunks() {
    yield await Promise.resolve(new TextEncoder().encode(samples));
  },
};

/** Returns the injectors to compare, with their revision if whole snapshots are compared. */
function pairsOf(a: Side, b: Side) {
  if (!a.isWhole || !b.isWhole) return [{ revision: undefined, before: onlyOf(a), after: onlyOf(b) }];
  const revisions = [...new Set([...a.injectors.keys(), ...b.injectors.keys()])].sort();
  return revisions.map((revision) => {
    return { revision, before: a.injectors.get(revision), after: b.injectors.get(revision) };
  });
}

function onlyOf({ name, injectors }: Side): Injector | undefined {
  if (injectors.size < 2) return [...injectors.values()][0];
  const revisions = [...injectors.keys()].map((each) => `"${name}@${each}"`).join(" or ");
  throw new UsageError(`"${name}" has several revisions`, { hint: `name one of ${revisions}` });
}

/** Returns the pod as YAML, after a comment line if it is not injected. Throws a MeshError that names pod and side. */
function podText(target: Target, injector: Injector, side: string): string {
  const pod = podOf(target);
  const decision = decide(pod, { ...injector.config, byHand: false });
  if (!decision.inject) return `# not injected: ${decision.message}\n${toYaml(pod)}`;
  try {
    return toYaml(injectPod(pod, ownerOfTarget(target), injector).pod);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    throw new MeshError(`"${side}" cannot inject the pod of ${target.workload}: ${errorLine(error)}`, { cause: error });
  }
}
