/**
 * Finds violations of the Pod Security Standards, as k8s.io/pod-security-admission/policy does. Skips fields that
 * sidecar templates do not set (Windows, AppArmor, SELinux, sysctls).
 */
import { mapAt, mapsAt, newMap, textAt, textsAt, type Value, type ValueMap } from "../../base/value.ts";
import { allContainers, type ContainerList, containersOf, type Pod, specOf } from "../pod/pod.ts";

/** The Pod Security levels that restrict pods. */
export type Level = "baseline" | "restricted";

type ContainerRule = (security: ValueMap, pod: ValueMap) => string | undefined;
type PodRule = (spec: ValueMap) => string | undefined;

const BASELINE_CAPABILITIES = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);
const RESTRICTED_CAPABILITIES = new Set(["NET_BIND_SERVICE"]);
const SECCOMP = new Set(["RuntimeDefault", "Localhost"]);
const RESTRICTED_VOLUMES = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

const BOTH: readonly ContainerRule[] = [
  ({ privileged }) => privileged === true ? "is privileged" : undefined,
  ({ procMount }) => typeof procMount === "string" && procMount !== "Default" ? "has a procMount" : undefined,
  (security) => seccomp(security) === "Unconfined" ? "has the seccomp profile Unconfined" : undefined,
];

const CONTAINER_RULES: Readonly<Record<Level, readonly ContainerRule[]>> = {
  baseline: [...BOTH, (security) => addsOutside(security, BASELINE_CAPABILITIES)],
  restricted: [
    ...BOTH,
    (security) => addsOutside(security, RESTRICTED_CAPABILITIES),
    (security) => capabilities(security, "drop").includes("ALL") ? undefined : "does not drop ALL capabilities",
    ({ allowPrivilegeEscalation }) =>
      allowPrivilegeEscalation === false ? undefined : "does not set allowPrivilegeEscalation to false",
    (security, pod) => (security["runAsNonRoot"] ?? pod["runAsNonRoot"]) === true ? undefined : "may run as root",
    (security) => isZero(security["runAsUser"]) ? "runs as user 0" : undefined,
    (security, pod) => SECCOMP.has(seccomp(security) || seccomp(pod)) ? undefined : "has no seccomp profile",
  ],
};

const POD_BASELINE: readonly PodRule[] = [
  (spec) => ["hostNetwork", "hostPID", "hostIPC"].find((field) => spec[field] === true),
  (spec) => mapsAt(spec, "volumes").some((volume) => "hostPath" in volume) ? "a hostPath volume" : undefined,
  (spec) => seccomp(mapAt(spec, "securityContext")) === "Unconfined" ? "the seccomp profile Unconfined" : undefined,
];

const POD_RULES: Readonly<Record<Level, readonly PodRule[]>> = {
  baseline: POD_BASELINE,
  restricted: [
    ...POD_BASELINE,
    (spec) => isZero(mapAt(spec, "securityContext")["runAsUser"]) ? "runAsUser 0" : undefined,
    forbiddenVolume,
  ],
};

/**
 * Returns all violations of a level by a pod in words, such as `container "istio-init" adds NET_ADMIN and NET_RAW`. Empty
 * if the level admits the pod.
 */
export function violationsOf(pod: Pod, level: Level): readonly string[] {
  const spec = specOf(pod);
  const ofPod = POD_RULES[level].flatMap((rule) => rule(spec) ?? []).map((what) => `the pod has ${what}`);
  return [...ofPod, ...allContainers(pod).flatMap((container) => ofContainer(container, spec, level))];
}

/** Copies the parts of a pod that `violationsOf` reads, so that the whole pod need not stay in memory. */
export function securedParts(pod: Pod): Pod {
  const { securityContext, hostNetwork, hostPID, hostIPC, volumes } = specOf(pod);
  const parts = (list: ContainerList) =>
    containersOf(pod, list).map(({ name, securityContext, ports }) => defined({ name, securityContext, ports }));
  const lists = { containers: parts("containers"), initContainers: parts("initContainers") };
  return { spec: { ...defined({ securityContext, hostNetwork, hostPID, hostIPC, volumes }), ...lists } };
}

function defined(values: Readonly<Record<string, Value | undefined>>): ValueMap {
  const map = newMap();
  for (const key in values) if (values[key] !== undefined) map[key] = values[key];
  return map;
}

function ofContainer(container: ValueMap, spec: ValueMap, level: Level): readonly string[] {
  const [security, pod] = [mapAt(container, "securityContext"), mapAt(spec, "securityContext")];
  const broken = CONTAINER_RULES[level].flatMap((rule) => rule(security, pod) ?? []);
  const hasHostPort = mapsAt(container, "ports").some(({ hostPort = 0 }) => !isZero(hostPort));
  if (hasHostPort) broken.push("has a hostPort");
  return broken.length === 0 ? [] : [`container "${textAt(container, "name")}" ${broken.join(", ")}`];
}

function capabilities(security: ValueMap, key: "add" | "drop"): readonly string[] {
  return textsAt(mapAt(security, "capabilities"), key);
}

function addsOutside(security: ValueMap, allowed: ReadonlySet<string>): string | undefined {
  const outside = capabilities(security, "add").filter((name) => !allowed.has(name));
  return outside.length === 0 ? undefined : `adds ${outside.join(" and ")}`;
}

function seccomp(security: ValueMap): string {
  return textAt(mapAt(security, "seccompProfile"), "type");
}

/** Whether a value is 0. Numbers are of type bigint in rendered templates, and of type number in API objects. */
function isZero(value: unknown): boolean {
  return value === 0 || value === 0n;
}

function forbiddenVolume(spec: ValueMap): string | undefined {
  const kinds = mapsAt(spec, "volumes").flatMap((volume) => Object.keys(volume).filter((key) => key !== "name"));
  const other = kinds.find((kind) => kind !== "hostPath" && !RESTRICTED_VOLUMES.has(kind));
  return other === undefined ? undefined : `a volume of type ${other}`;
}
