/** Finds out what a new configuration would change in running injected pods. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { decide, type Injector, injectPod, type NativeOption } from "../../inject/mod.ts";
import { ownerOfTarget, podOf, type Target } from "../injection/target.ts";
import { inventoryOf, type Source } from "../inventory/mod.ts";
import { isKnown, type Observed, reason } from "../inventory/observed.ts";
import { type Injectors, injectorsFor, type UpgradeTo } from "./next_injector.ts";
import { type Fields, type Parts, partsOf } from "./parts.ts";
import {
  keyOf,
  type PodChoice,
  type Running,
  runningSidecars,
  type Templates,
  templatesOf,
  workloadName,
} from "./running.ts";
import type { Upgrade, UpgradeChange, UpgradeWorkload } from "./upgrade_schema.ts";

export interface UpgradeQuestion extends PodChoice {
  readonly to: UpgradeTo;
  readonly name: string;
  /** Whether proxies become native sidecars; `undefined` keeps their present kind. */
  readonly nativeSidecars: NativeOption | undefined;
}

/**
 * Compares the parts that injection adds to the template of each workload with the workload's running pods. Throws
 * errors of the API for pods, and a MeshError for an invalid configuration.
 */
export async function upgradeOf(source: Source, question: UpgradeQuestion): Promise<Upgrade> {
  const inventory = inventoryOf(source);
  const injectors = await injectorsFor(inventory, question.to, question.nativeSidecars);
  const [running, templates] = await Promise.all([
    runningSidecars(source.api, question),
    templatesOf(source.api, question),
  ]);
  const groups = Map.groupBy(running, ({ owner }) => keyOf(owner));
  const workloads: UpgradeWorkload[] = [];
  for (const [, pods] of [...groups].sort(([a], [b]) => a < b ? -1 : 1)) {
    workloads.push(await workloadOf(pods, injectors, templates));
  }
  const isSure = workloads.every(({ unknown }) => unknown === null);
  const differs = workloads.some(({ changes }) => changes.length > 0) || (isSure ? false : null);
  return { to: question.name, differs, workloads };
}

async function workloadOf(
  running: readonly Running[],
  injectors: Injectors,
  templates: Templates,
): Promise<UpgradeWorkload> {
  const [first] = running;
  if (first === undefined) throw new Error("A workload without pods");
  const target = await templates(first.owner);
  const found = await Promise.all(running.map((each) => changesOf(each, target, injectors)));
  const changes = found.flatMap((each) => isKnown(each) ? each.value : []);
  const unknown = found.find((each) => !isKnown(each));
  return {
    workload: workloadName(first.owner),
    namespace: first.owner.namespace,
    pods: running.reduce((sum, { pods }) => sum + pods, 0),
    changes: [...new Map(changes.map((change) => [JSON.stringify(change), change])).values()],
    unknown: unknown === undefined || isKnown(unknown) ? null : reason(unknown),
  };
}

async function changesOf(
  running: Running,
  target: Observed<Target>,
  injectors: Injectors,
): Promise<Observed<readonly UpgradeChange[]>> {
  const next = await injectors.next(running);
  if (!isKnown(target)) return target;
  if (!isKnown(next)) return next;
  const after = rendered(target.value, next.value);
  if (typeof after === "string") return { value: [{ container: "", field: "sidecar", from: "injected", to: after }] };
  const present = await injectors.present(running);
  const before = isKnown(present) ? rendered(target.value, present.value) : "";
  return { value: changesBetween(running.parts, after, typeof before === "string" ? undefined : before) };
}

/** Returns the parts that injection adds to a new pod of a workload, or the reason why the pod is not injected. */
function rendered(target: Target, injector: Injector): Parts | string {
  const pod = podOf(target);
  const decision = decide(pod, { ...injector.config, byHand: false });
  if (!decision.inject) return `not injected: ${decision.message}`;
  try {
    return partsOf(injectPod(pod, ownerOfTarget(target), injector).pod) ?? "not injected: the templates add nothing";
  } catch (error) {
    if (error instanceof MeshError) return `refused: ${errorLine(error)}`;
    throw error;
  }
}

const WHOLE = "container";

/**
 * Returns the changes from a running pod to the next pod. Because webhooks and limit ranges also add fields, a field
 * that only the running pod has is a change only if the present templates (`present`) set the field.
 */
function changesBetween(running: Parts, next: Parts, present: Parts | undefined): readonly UpgradeChange[] {
  const names = [...new Set([...Object.keys(running), ...Object.keys(next)])];
  return names.flatMap((container) => {
    const [before, after] = [running[container], next[container]];
    if (before === undefined) return [{ container, field: WHOLE, from: null, to: titleOf(after) }];
    if (after === undefined) return [{ container, field: WHOLE, from: titleOf(before), to: null }];
    return ofFields(container, before, after, present?.[container]);
  });
}

function titleOf(fields: Fields = {}): string {
  return fields["image"] ?? "";
}

function ofFields(
  container: string,
  before: Fields,
  after: Fields,
  present: Fields | undefined,
): readonly UpgradeChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return fields.flatMap((field) => {
    const [from = null, to = null] = [before[field], after[field]];
    const isOfOthers = to === null && present !== undefined && present[field] === undefined;
    return from === to || isOfOthers ? [] : [{ container, field, from, to }];
  });
}
