/** Finds pods of this node that started while the plugin was missing, and fixes, deletes or labels them. */
import { apiPath } from "../../kube/api_path.ts";
import { errorText } from "../../base/errors.ts";
import type { Meter } from "../../base/metrics/mod.ts";
import { isMap, textAt } from "../../base/value.ts";
import type { KubeApi, KubeObject } from "../../kube/client/mod.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { isOver, stateOf } from "./broken.ts";
import { lacksRules } from "./look.ts";

/** The action for a pod without capture. */
export type RepairMode = "delete" | "label" | "fix";

/** The dependencies of a repair. */
export interface RepairContext {
  readonly world: World;
  readonly log: Logger;
  readonly api: KubeApi;
  readonly repairs: Meter;
}

export interface RepairOptions {
  readonly mode: RepairMode;
  readonly node: string;
  readonly hostProc: string;
  readonly nativeNftables: boolean;
  /** The label to set, as `KEY=VALUE`. */
  readonly label: string;
}

/** Maximum number of pods to repair at the same time. */
const WORKERS = 2;

/** The value of the metric label `type` for each mode, as in istio-cni. */
const TYPE: Readonly<Record<RepairMode, string>> = { fix: "repair", delete: "delete", label: "label" };

/** Milliseconds until the retry of a failed repair. */
const RETRY = 10_000;
const MAX_TRIES = 5;

/** Watches and repairs the pods of the node until the signal. Logs and retries failures. */
export async function repairPods(context: RepairContext, options: RepairOptions, signal: AbortSignal): Promise<void> {
  const { api, log } = context;
  const pods = new PodsAtWork(context, options, signal);
  const failed = (error: unknown) => log.warn(logText(`Watching the pods of this node failed: ${errorText(error)}`));
  const fieldSelector = `spec.nodeName=${options.node}`;
  for await (const { type, object } of api.watch("/api/v1/pods", { fieldSelector }, signal, { failed })) {
    if (type === "DELETED") pods.forget(object);
    else pods.changed(object);
  }
}

class PodsAtWork {
  /** The newest state of each pod that waits for a worker, by UID. */
  readonly #waiting = new Map<string, KubeObject>();
  /** The number of failed repairs of each pod, by UID; `Infinity` during and after a repair. */
  readonly #tries = new Map<string, number>();
  #running = 0;

  constructor(
    readonly context: RepairContext,
    readonly options: RepairOptions,
    readonly signal: AbortSignal,
  ) {}

  changed(pod: KubeObject): void {
    const uid = textAt(pod.metadata, "uid");
    this.#waiting.delete(uid);
    if ((this.#tries.get(uid) ?? 0) >= MAX_TRIES || stateOf(pod) === "fine") return;
    this.#waiting.set(uid, pod);
    if (this.#running < WORKERS) void this.#work();
  }

  forget(pod: KubeObject): void {
    const uid = textAt(pod.metadata, "uid");
    this.#waiting.delete(uid);
    this.#tries.delete(uid);
  }

  async #work(): Promise<void> {
    this.#running++;
    for (let [next] = this.#waiting; next !== undefined && !this.signal.aborted; [next] = this.#waiting) {
      const [uid, pod] = next;
      this.#waiting.delete(uid);
      const tries = this.#tries.get(uid) ?? 0;
      this.#tries.set(uid, Infinity);
      try {
        await settle(this.context, this.options, pod);
      } catch (error) {
        this.context.log.error(logText(`Cannot repair ${nameOf(pod)}: ${errorText(error)}`));
        this.#tries.set(uid, tries + 1);
        void this.#later(uid, pod);
      }
    }
    this.#running--;
  }

  async #later(uid: string, pod: KubeObject): Promise<void> {
    await this.context.world.clock.sleep(RETRY, this.signal);
    const isNewest = this.#tries.has(uid) && !this.#waiting.has(uid);
    if (isNewest && !this.signal.aborted) this.changed(pod);
  }
}

/** Repairs a pod if it is broken. */
async function settle(context: RepairContext, options: RepairOptions, pod: KubeObject): Promise<void> {
  const { mode } = options;
  // In the mode `fix`, a "broken" pod may already have rules: an earlier installer fixed the pod, and istio-validation
  // has not run since.
  const isKnown = stateOf(pod) === "broken" && (mode !== "fix" || isOver(pod));
  if (!isKnown && mode !== "fix" && !await lacksRules(context.world, options, pod, false)) return;
  const type = TYPE[mode];
  try {
    const result = await ACTS[mode](context, options, pod);
    if (result !== undefined) context.repairs.add({ type, result });
  } catch (error) {
    context.repairs.add({ type, result: "fail" });
    await writeEvent(context, pod, REASON[mode], `The traffic of the pod is not captured: ${errorText(error)}`);
    throw error;
  }
}

/** The event reason for each mode, as in istio-cni. */
const REASON: Readonly<Record<RepairMode, string>> = {
  fix: "RepairBrokenPod",
  delete: "DeleteBrokenPod",
  label: "LabelBrokenPod",
};

/** The outcome of a repair; `undefined` if the pod was already captured. */
type Outcome = "success" | "skip" | undefined;
type Act = (context: RepairContext, options: RepairOptions, pod: KubeObject) => Promise<Outcome>;

const ACTS: Readonly<Record<RepairMode, Act>> = { fix, delete: remove, label };

/** Applies the rules. The kubelet then restarts istio-validation, which succeeds with the rules. */
async function fix(context: RepairContext, options: RepairOptions, pod: KubeObject): Promise<Outcome> {
  const { log } = context;
  if (isOver(pod)) {
    const text = "The traffic was not captured, and the pod has finished: its owner creates another pod";
    log.warn(logText(`${nameOf(pod)}: ${text}`));
    await writeEvent(context, pod, REASON.fix, text);
    return "skip";
  }
  if (!await lacksRules(context.world, options, pod, true)) return undefined;
  log.info(logText(`${nameOf(pod)} was not captured: its rules have been applied`));
  await writeEvent(context, pod, REASON.fix, "The pod started without the CNI plugin; its traffic is captured now");
  return "success";
}

async function remove(context: RepairContext, _: RepairOptions, pod: KubeObject): Promise<"success"> {
  const { log, api } = context;
  await api.remove(pathOf(pod), textAt(pod.metadata, "uid"));
  log.info(logText(`${nameOf(pod)} was not captured: the pod has been deleted`));
  await writeEvent(context, pod, REASON.delete, "The pod started without the CNI plugin and has been deleted");
  return "success";
}

/** Sets the label with a patch of the pod's status, because that needs fewer permissions than a patch of the pod. */
async function label(
  context: RepairContext,
  { label }: RepairOptions,
  pod: KubeObject,
): Promise<"success" | "skip"> {
  const { log, api } = context;
  const [key = "", value = ""] = label.split("=");
  const labels = pod.metadata["labels"];
  if (isMap(labels) && Object.hasOwn(labels, key)) return "skip";
  // With the UID, the API server refuses the patch if another pod has the name now.
  const metadata = { uid: textAt(pod.metadata, "uid"), labels: { [key]: value } };
  await api.patch(`${pathOf(pod)}/status`, "merge", { metadata });
  log.info(logText(`${nameOf(pod)} is not captured: the label ${label} has been set`));
  await writeEvent(
    context,
    pod,
    REASON.label,
    `The pod started without the CNI plugin; the label ${label} has been set`,
  );
  return "success";
}

/** Maximum length of an event message that the API server accepts. */
const MAX_MESSAGE = 1024;

/** Writes an event, which `kubectl describe` shows. Ignores failures, because the log contains the same text. */
async function writeEvent({ api, world }: RepairContext, pod: KubeObject, reason: string, message: string) {
  const { namespace = "", name } = pod.metadata;
  const now = world.clock.now().toISOString();
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { generateName: `${name.slice(0, 200)}.`, namespace },
    involvedObject: { apiVersion: "v1", kind: "Pod", namespace, name, uid: textAt(pod.metadata, "uid") },
    ...{ type: "Warning", reason, message: message.slice(0, MAX_MESSAGE), source: { component: "cni-repair" } },
    ...{ firstTimestamp: now, lastTimestamp: now, count: 1 },
  };
  await api.create(apiPath("api/v1", "events", namespace), event).catch(() => {});
}

function pathOf({ metadata: { namespace = "", name } }: KubeObject): string {
  return apiPath("api/v1", "pods", namespace, name);
}

function nameOf({ metadata: { namespace = "", name } }: KubeObject): string {
  return `"${namespace}/${name}"`;
}
