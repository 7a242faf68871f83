/** The fields of a pod that affect its connections, read from `pod.json`. */
import { intAt, listAt, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../base/value.ts";
import type { Snapshot } from "./snapshot/snapshot.ts";
import { jsonOf } from "./snapshot/json_part.ts";

export interface Application {
  readonly name: string;
  /** User ID of the container; `undefined` if the image sets it. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  readonly ports: readonly number[];
}

/** The init container that sets the redirect rules, or that checks the rules of the CNI plugin. */
interface CaptureContainer {
  readonly name: string;
  /** Arguments of istio-iptables. */
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the arguments are for the shell script of Istio 1.0 to 1.2. */
  readonly isScript: boolean;
}

export interface Pod {
  readonly namespace: string;
  readonly addresses: readonly string[];
  readonly isHostNetwork: boolean;
  readonly applications: readonly Application[];
  /** Name of the container that runs Envoy; `undefined` if there is no such container. */
  readonly proxy: string | undefined;
  /** User and group of the proxy's container; each `undefined` if the image sets it. */
  readonly proxyUser: Pick<Application, "uid" | "gid">;
  readonly proxyEnvironment: Readonly<Record<string, string>>;
  readonly capture: CaptureContainer | undefined;
  readonly dns: { readonly ndots: number; readonly searches: readonly string[]; readonly policy: string };
  readonly annotations: ValueMap;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether istio-cni redirects the pod's traffic to the ztunnel of its node (ambient mode). */
  readonly isAmbient: boolean;
}

const PROXY = "istio-proxy";

/** Returns the pod of a snapshot; `undefined` if its manifest is absent. */
export function podOf({ parts }: Pick<Snapshot, "parts">): Pod | undefined {
  const { value } = jsonOf(parts["pod.json"], "pod.json");
  return value === undefined ? undefined : readPod(value);
}

function readPod(pod: ValueMap): Pod {
  const [spec, status, metadata] = [mapAt(pod, "spec"), mapAt(pod, "status"), mapAt(pod, "metadata")];
  const containers = mapsAt(spec, "containers");
  const all = [...mapsAt(spec, "initContainers"), ...containers];
  const proxy = all.find((container) => textAt(container, "name") === PROXY);
  const podIps = mapsAt(status, "podIPs").map((each) => textAt(each, "ip"));
  return {
    namespace: textAt(metadata, "namespace"),
    addresses: [...new Set([textAt(status, "podIP"), ...podIps])].filter((ip) => ip !== ""),
    isHostNetwork: spec["hostNetwork"] === true,
    applications: containers.filter((each) => each !== proxy).map((each) => application(each, spec)),
    proxy: proxy === undefined ? undefined : PROXY,
    proxyUser: proxy === undefined ? { uid: undefined, gid: undefined } : application(proxy, spec),
    proxyEnvironment: proxy === undefined ? {} : environmentOf(proxy),
    capture: captureContainer(mapsAt(spec, "initContainers")),
    dns: dnsOf(spec),
    annotations: mapAt(metadata, "annotations"),
    isAmbient: isAmbient(metadata),
    labels: textsOf(mapAt(metadata, "labels")),
  };
}

function textsOf(map: ValueMap): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).flatMap(([key, value]) => typeof value === "string" ? [[key, value]] : []),
  );
}

/** Whether an annotation says that istio-cni redirects the pod's traffic to ztunnel (Istio's pkg/config/constants). */
export function isAmbient(metadata: ValueMap): boolean {
  return textAt(mapAt(metadata, "annotations"), "ambient.istio.io/redirection") === "enabled";
}

function application(container: ValueMap, spec: ValueMap): Application {
  const own = mapAt(container, "securityContext");
  const common = mapAt(spec, "securityContext");
  return {
    name: textAt(container, "name"),
    uid: intAt(own, "runAsUser") ?? intAt(common, "runAsUser"),
    gid: intAt(own, "runAsGroup") ?? intAt(common, "runAsGroup"),
    ports: mapsAt(container, "ports").flatMap((port) => intAt(port, "containerPort") ?? []),
  };
}

/** Programs that accept the arguments of istio-iptables. */
const COMMANDS: ReadonlySet<string> = new Set(["istio-iptables", "istio-iptables.sh"]);

/** Returns istio-init or istio-validation. Its arguments identify it, because its name can differ. */
function captureContainer(containers: readonly ValueMap[]): CaptureContainer | undefined {
  for (const container of containers) {
    const args = [...textsAt(container, "command"), ...textsAt(container, "args")];
    const at = args.findIndex((word) => COMMANDS.has(word.split("/").at(-1) ?? ""));
    const own = args.findIndex((word, index) => word === "iptables" && args[index + 1] === "apply");
    const start = at >= 0 ? at + 1 : own >= 0 ? own + 2 : textAt(container, "name") === "istio-init" ? 0 : -1;
    if (start < 0) continue;
    return {
      name: textAt(container, "name"),
      // In early releases the container names no program, and the image's entrypoint is the script.
      isScript: start === 0 || (args[at] ?? "").endsWith("istio-iptables.sh"),
      arguments: args.slice(start).filter((word) => !CHECKING.includes(word)),
      environment: environmentOf(container),
    };
  }
  return undefined;
}

/** Arguments with which the container only checks the CNI plugin's rules. */
const CHECKING = ["--run-validation", "--skip-rule-apply"];

function environmentOf(container: ValueMap): Record<string, string> {
  return Object.fromEntries(
    mapsAt(container, "env").filter((each) => typeof each["value"] === "string").map((each) => [
      textAt(each, "name"),
      textAt(each, "value"),
    ]),
  );
}

/** The value of ndots that Kubernetes sets for the DNS policy ClusterFirst. */
const NDOTS = 5;

function dnsOf(spec: ValueMap): Pod["dns"] {
  const config = mapAt(spec, "dnsConfig");
  const ndots = mapsAt(config, "options").find((option) => textAt(option, "name") === "ndots");
  const number = ndots === undefined ? NaN : Number(textAt(ndots, "value") || NaN);
  return {
    ndots: Number.isInteger(number) ? number : NDOTS,
    searches: listAt(config, "searches").filter((each) => typeof each === "string"),
    policy: textAt(spec, "dnsPolicy") || "ClusterFirst",
  };
}

/** Returns the message and the fix for a pod without a proxy. An empty namespace or name is unknown. */
export function withoutProxy(namespace: string, name: string): { readonly message: string; readonly fix: string } {
  const fix = `find the reason: ${injectionCheck(namespace, name)}`;
  return { message: "the pod has no proxy: it is not in the mesh", fix };
}

/** Returns the command that says why a pod has no proxy. An empty namespace or name is unknown. */
export function injectionCheck(namespace: string, name: string): string {
  const pod = `pod/${name === "" ? "NAME" : name}`;
  return `kubectl mesh check injection ${pod}${namespace === "" ? "" : ` -n ${namespace}`}`;
}
