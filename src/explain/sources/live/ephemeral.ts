/**
 * The rules of the kernel through an ephemeral container (`--ephemeral`), which has the capability that the proxy's own
 * container lacks. It runs in the pod's network namespace, reads, and ends by itself; Kubernetes keeps it in the pod's list.
 */
import { errorText } from "../../../core/errors.ts";
import { ApiError, type KubeApi, type KubeObject, type Pod } from "../../../core/kube/client/mod.ts";
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../core/value.ts";
import type { Clock } from "../../../core/world/mod.ts";
import { absentPart, type Part, type PartName } from "../../capture/capture.ts";
import type { PartCommand } from "./questions.ts";

/** What it needs. */
export interface EphemeralSource {
  readonly api: Pick<KubeApi, "get" | "patch">;
  readonly clock: Pick<Clock, "sleep" | "now">;
  /** Runs the commands in a container of the pod. */
  readonly ask: (container: string, questions: readonly PartCommand[]) => Promise<readonly (readonly [string, Part])[]>;
  /** Says what is about to be done. */
  readonly say: (text: string) => void;
}

const RULES: readonly PartCommand[] = [
  { part: "rules.iptables", command: ["iptables-save", "-c"] },
  { part: "rules.ip6tables", command: ["ip6tables-save", "-c"] },
];

/** How long the container runs: it waits for a port on which nothing listens. Images without a shell can do that. */
const SECONDS = 60;
const WAITS = ["pilot-agent", "wait", "--timeoutSeconds", String(SECONDS), "--url", "http://127.0.0.1:1/"];
const STARTS_WITHIN = 60_000;
const POLL = 500;

/** The rules. A container that cannot be added or does not start is told in the parts. */
export async function ephemeralRules(
  source: EphemeralSource,
  pod: Pod,
  image: string,
): Promise<readonly (readonly [string, Part])[]> {
  const name = nameFor(pod);
  const { name: podName, namespace = "" } = pod.metadata;
  source.say(
    `Adding the ephemeral container "${name}" to pod "${namespace}/${podName}": image "${image}", user 0, NET_ADMIN and ` +
      `NET_RAW; it reads the rules, ends after ${SECONDS} seconds, and stays in the pod's list\n`,
  );
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(podName)}`;
  try {
    await source.api.patch(`${path}/ephemeralcontainers`, "strategic", {
      spec: { ephemeralContainers: [container(name, image)] },
    });
    const problem = await started(source, path, name);
    return problem === undefined ? await source.ask(name, RULES) : all("not-running", problem);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isForbidden = error.status === 403;
    return all(isForbidden ? "forbidden" : "no-answer", `no ephemeral container: ${errorText(error)}`);
  }
}

function all(reason: "forbidden" | "no-answer" | "not-running", message: string): (readonly [PartName, Part])[] {
  return RULES.map(({ part }) => [part, absentPart(reason, message)] as const);
}

/** Containers cannot be removed, nor added twice with a name. */
function nameFor(pod: Pod): string {
  const names = new Set((pod.spec?.ephemeralContainers ?? []).map(({ name }) => name));
  for (let number = 1;; number++) {
    const name = `kubectl-mesh-rules-${number}`;
    if (!names.has(name)) return name;
  }
}

function container(name: string, image: string): object {
  return {
    name,
    image,
    command: WAITS,
    securityContext: {
      runAsUser: 0,
      runAsNonRoot: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { add: ["NET_ADMIN", "NET_RAW"], drop: ["ALL"] },
    },
  };
}

/** Waits until the container runs; returns why it does not. */
async function started({ api, clock }: EphemeralSource, path: string, name: string): Promise<string | undefined> {
  const end = clock.now().getTime() + STARTS_WITHIN;
  for (;;) {
    const state = stateOf(await api.get(path), name);
    if (isMap(state["running"])) return undefined;
    const reason = textAt(mapAt(state, "waiting"), "reason");
    if (isMap(state["terminated"])) return `the ephemeral container "${name}" has ended at once`;
    if (/BackOff|Err|Invalid/.test(reason)) return `the ephemeral container "${name}" does not start: ${reason}`;
    if (clock.now().getTime() >= end) {
      return `the ephemeral container "${name}" did not start within ${STARTS_WITHIN / 1000} seconds`;
    }
    await clock.sleep(POLL);
  }
}

function stateOf(pod: KubeObject | undefined, name: string): ValueMap {
  const statuses = pod === undefined ? [] : mapsAt(mapAt(pod, "status"), "ephemeralContainerStatuses");
  return mapAt(statuses.find((each) => textAt(each, "name") === name) ?? {}, "state");
}
