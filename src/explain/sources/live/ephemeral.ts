/**
 * Starts ephemeral containers. They run in the pod's network namespace, as another user or with a capability that the
 * proxy's container lacks. A container exits with this process, or after its own timeout. Kubernetes keeps the exited
 * container in the pod's list.
 */
import { apiPath } from "../../../kube/api_path.ts";
import type { KubeConnection, KubeObject, Pod } from "../../../kube/client/mod.ts";
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import type { Clock } from "../../../platform/mod.ts";
import { type AbsentPart, absentPart } from "../../snapshot/snapshot.ts";
import { unreadPart } from "./live.ts";

export interface EphemeralSource {
  readonly api: Pick<KubeConnection, "get" | "patch" | "hold">;
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  /** Prints a message about the next step. */
  readonly say: (text: string) => void;
}

export interface Guest {
  /** Purpose of the container, as a part of its name. */
  readonly name: string;
  readonly image: string;
  /** Command that keeps the container running; `undefined`: `pilot-agent wait`. */
  readonly waits?: readonly string[];
  readonly security: object;
  /** Describes the container's user, capabilities and task in a message. */
  readonly says: string;
}

/** Identifies the container's first process by its command line. */
const MARK = "kubectl-mesh-guest";
/** Maximum lifetime in seconds. The container waits for a port that never opens, which works without a shell. */
const SECONDS = 60;
const WAITS = ["pilot-agent", "wait", "--timeoutSeconds", String(SECONDS), "--url", `http://127.0.0.1:1/${MARK}`];
/**
 * Command that keeps a container without pilot-agent alive. The trap is necessary, because PID 1 gets only signals that
 * it handles.
 */
export const SLEEPS = ["sh", "-c", `trap "exit 0" TERM; sleep ${SECONDS} & wait`, MARK];
/**
 * Stops the container when standard input closes, which also happens if this process is killed. In a pod with a shared
 * process namespace, PID 1 is another process and is not stopped. Repeats `kill`, because the kernel drops a signal that
 * a new PID 1 does not handle yet.
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

export function rulesGuest(image: string): Guest {
  const capabilities = { add: ["NET_ADMIN", "NET_RAW"], drop: ["ALL"] };
  return {
    name: "rules",
    image,
    security: { ...SECURITY, runAsUser: 0, runAsNonRoot: false, capabilities },
    says: "user 0, capabilities NET_ADMIN and NET_RAW, to read the rules",
  };
}

/** Returns the container that sends requests as a user. Pod Security `restricted` permits any user except root. */
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
    says: `user ${uid}, no capabilities, to send the request`,
  };
}

/** Adds a container and waits until it runs. Returns its name, or an absent part with the reason for a failure. */
export async function startGuest(source: EphemeralSource, pod: Pod, guest: Guest): Promise<string | AbsentPart> {
  const { name: podName, namespace = "" } = pod.metadata;
  const { phase = "Running" } = pod.status ?? {};
  // The container would never start, and cannot be removed from the pod's list.
  if (phase !== "Running") return absentPart("not-running", `no ephemeral container can start: the pod is ${phase}`);
  const name = nameFor(pod, guest.name);
  source.say(
    `Adding the ephemeral container "${name}" to pod "${namespace}/${podName}": image "${guest.image}", ${guest.says}; ` +
      `it exits with this command, at the latest after ${SECONDS} seconds, and stays in the pod's list\n`,
  );
  const path = apiPath("api/v1", "pods", namespace, podName);
  const { image, security, waits = WAITS } = guest;
  try {
    await source.api.patch(`${path}/ephemeralcontainers`, "strategic", {
      spec: { ephemeralContainers: [{ name, image, command: waits, securityContext: security }] },
    });
    const problem = await started(source, path, name);
    if (problem !== undefined) return absentPart("not-running", `${problem}; ${LEFT}`);
    // Without a shell in the image, the container runs until its own timeout.
    await source.api.hold({ namespace, pod: podName, container: name, command: ENDS, timeout: HOLDS_WITHIN });
    return name;
  } catch (error) {
    return unreadPart(error, "the ephemeral container cannot be added: ");
  }
}

/** End of a message about a failed container. The API server cannot remove an ephemeral container. */
const LEFT = "it stays in the pod's list until the pod is recreated";

/** Returns an unused name. Ephemeral containers cannot be removed, and names must be unique. */
function nameFor(pod: Pod, purpose: string): string {
  const names = (pod.spec?.ephemeralContainers ?? []).map(({ name }) => name);
  let number = 1;
  while (names.includes(`kubectl-mesh-${purpose}-${number}`)) number++;
  return `kubectl-mesh-${purpose}-${number}`;
}

/** Waits until the container runs. Returns the problem if it does not start. */
async function started({ api, clock }: EphemeralSource, path: string, name: string): Promise<string | undefined> {
  const end = clock.monotonic() + STARTS_WITHIN;
  for (;;) {
    const state = stateOf(await api.get(path), name);
    if (isMap(state["running"])) return undefined;
    const waiting = mapAt(state, "waiting");
    const reason = textAt(waiting, "reason");
    if (isMap(state["terminated"])) return `the ephemeral container "${name}" exited immediately`;
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
