/**
 * Ephemeral containers: in the pod's network namespace, as another user or with a capability that the proxy's own container
 * lacks. Each ends with this process, at the latest by itself; Kubernetes keeps it in the pod's list.
 */
import { errorText } from "../../../base/errors.ts";
import { ApiError, type KubeConnection, type KubeObject, type Pod } from "../../../kube/client/mod.ts";
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import type { Clock } from "../../../platform/mod.ts";
import { type AbsentPart, absentPart } from "../../snapshot/snapshot.ts";

export interface EphemeralSource {
  readonly api: Pick<KubeConnection, "get" | "patch" | "hold">;
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  /** Prints what is about to be done. */
  readonly say: (text: string) => void;
}

export interface Guest {
  /** The beginning of its name. */
  readonly name: string;
  readonly image: string;
  /** What keeps it running; `undefined`: pilot-agent. */
  readonly waits?: readonly string[];
  readonly security: object;
  /** Its user, its capabilities, and what it does. */
  readonly says: string;
}

const PREFIX = "kubectl-mesh-";
/** Stands in the command line of the container's first process. */
const MARK = "kubectl-mesh-guest";
/** How long the container runs at most: it waits for a port on which nothing listens. Images without a shell can do that. */
const SECONDS = 60;
const WAITS = ["pilot-agent", "wait", "--timeoutSeconds", String(SECONDS), "--url", `http://127.0.0.1:1/${MARK}`];
/** The same for images that are not Istio's. The first process of a container gets no signal that it does not handle. */
export const SLEEPS = ["sh", "-c", `trap "exit 0" TERM; sleep ${SECONDS} & wait`, MARK];
/**
 * Ends the container when its standard input ends: with this process, also when that is killed. With a process namespace of the
 * whole pod the first process is another one, and stays. More than once: a first process that has just started handles no
 * signal yet, and the kernel drops it.
 */
const ENDS = [
  "sh",
  "-c",
  `cat; read -r line </proc/1/cmdline; case $line in *${MARK}*) while kill 1; do sleep 1; done;; esac`,
];
const HOLDS_WITHIN = 5_000;
const STARTS_WITHIN = 15_000;
const POLL = 500;

const SECURITY = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true };

/** Reads the rules of the kernel. */
export function rulesGuest(image: string): Guest {
  const capabilities = { add: ["NET_ADMIN", "NET_RAW"], drop: ["ALL"] };
  return {
    name: "rules",
    image,
    security: { ...SECURITY, runAsUser: 0, runAsNonRoot: false, capabilities },
    says: "user 0, NET_ADMIN and NET_RAW; it reads the rules",
  };
}

/** Sends as a user; with nothing that the namespace's Pod Security `restricted` refuses, unless the user is root. */
export function probeGuest(
  image: string,
  waits: readonly string[] | undefined,
  { uid, gid }: { readonly uid: number; readonly gid: number },
): Guest {
  const security = {
    ...SECURITY,
    runAsUser: uid,
    runAsGroup: gid,
    runAsNonRoot: uid !== 0,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  };
  return {
    name: "probe",
    image,
    ...waits === undefined ? {} : { waits },
    security,
    says: `user ${uid}, no capabilities; it sends the request`,
  };
}

/** Adds a container and waits until it runs: its name, or why there is none. */
export async function startGuest(source: EphemeralSource, pod: Pod, guest: Guest): Promise<string | AbsentPart> {
  const { name: podName, namespace = "" } = pod.metadata;
  const { phase = "Running" } = pod.status ?? {};
  // It would never start, and nobody can take it out of the pod's list.
  if (phase !== "Running") return absentPart("not-running", `no ephemeral container can start: the pod is ${phase}`);
  const name = nameFor(pod, guest.name);
  source.say(
    `Adding the ephemeral container "${name}" to pod "${namespace}/${podName}": image "${guest.image}", ${guest.says}, ` +
      `ends with this command, at the latest after ${SECONDS} seconds, and stays in the pod's list\n`,
  );
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(podName)}`;
  const { image, security, waits = WAITS } = guest;
  try {
    await source.api.patch(`${path}/ephemeralcontainers`, "strategic", {
      spec: { ephemeralContainers: [{ name, image, command: waits, securityContext: security }] },
    });
    const problem = await started(source, path, name);
    if (problem !== undefined) return absentPart("not-running", `${problem}; ${LEFT}`);
    // Images without a shell run until they end by themselves.
    await source.api.hold({ namespace, pod: podName, container: name, command: ENDS, timeout: HOLDS_WITHIN });
    return name;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isForbidden = error.status === 403;
    return absentPart(isForbidden ? "forbidden" : "no-answer", `no ephemeral container: ${errorText(error)}`);
  }
}

/** The API server takes none out. */
const LEFT = "it stays in the pod's list until the pod is recreated";

/** Containers cannot be removed, nor added twice with a name. */
function nameFor(pod: Pod, purpose: string): string {
  const names = new Set((pod.spec?.ephemeralContainers ?? []).map(({ name }) => name));
  for (let number = 1;; number++) {
    const name = `${PREFIX}${purpose}-${number}`;
    if (!names.has(name)) return name;
  }
}

/** Waits until the container runs; returns why it does not. */
async function started({ api, clock }: EphemeralSource, path: string, name: string): Promise<string | undefined> {
  const end = clock.monotonic() + STARTS_WITHIN;
  for (;;) {
    const state = stateOf(await api.get(path), name);
    if (isMap(state["running"])) return undefined;
    const waiting = mapAt(state, "waiting");
    const reason = textAt(waiting, "reason");
    if (isMap(state["terminated"])) return `the ephemeral container "${name}" has ended at once`;
    if (/BackOff|Err|Invalid/.test(reason)) {
      const why = [reason, textAt(waiting, "message")].filter((text) => text !== "").join(": ");
      return `the ephemeral container "${name}" does not start: ${why}`;
    }
    const left = end - clock.monotonic();
    if (left <= 0) {
      return `the ephemeral container "${name}" did not start within ${STARTS_WITHIN / 1000} seconds`;
    }
    await clock.sleep(Math.min(POLL, left));
  }
}

function stateOf(pod: KubeObject | undefined, name: string): ValueMap {
  const statuses = pod === undefined ? [] : mapsAt(mapAt(pod, "status"), "ephemeralContainerStatuses");
  return mapAt(statuses.find((each) => textAt(each, "name") === name) ?? {}, "state");
}
