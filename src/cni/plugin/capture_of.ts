/**
 * Decides whether the plugin captures a pod, and with which settings, as istio-cni does. Returns the settings as
 * arguments of `iptables apply`, which validates them. Source: Istio, cni/pkg/plugin/plugin.go and sidecar_redirect.go.
 */
import { intAt, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { parseBool } from "../../golang/go_bool.ts";
import { ANNOTATION, LABEL, UNCAPTURED_PORTS } from "../../istio/configuration.ts";
import type { KubeObject } from "../../kube/client/mod.ts";

/** The arguments that capture a pod, or the reason why the plugin does not capture it. */
export type CaptureOf =
  | { readonly captured: true; readonly args: readonly string[] }
  | { readonly captured: false; readonly reason: string };

/** The flag for each annotation, and the flag's value if the annotation is missing. */
const SETTINGS = [
  ["-m", [ANNOTATION.interceptionMode], "REDIRECT"],
  ["-i", [ANNOTATION.includeOutboundIpRanges], "*"],
  ["-x", [ANNOTATION.excludeOutboundIpRanges], ""],
  ["-b", [ANNOTATION.includeInboundPorts], "*"],
  ["-q", [ANNOTATION.includeOutboundPorts], ""],
  ["-o", [ANNOTATION.excludeOutboundPorts], "15020"],
  ["-c", [ANNOTATION.excludeInterfaces], ""],
  ["-k", [ANNOTATION.rerouteVirtualInterfaces, ANNOTATION.kubevirtInterfaces], ""],
] as const;

const ANNOTATION_OF: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SETTINGS.map(([flag, [name]]) => [flag, name])),
  "-d": ANNOTATION.excludeInboundPorts,
};

/** Returns the name of a flag in messages: the name of its annotation if one exists. */
export function annotationOf(flag: string): string {
  return ANNOTATION_OF[flag] ?? flag;
}

/** Variables of the proxy that turn on settings of the capture. */
const SWITCHES = [
  ["ISTIO_META_DNS_CAPTURE", ["--redirect-dns", "--capture-all-dns"]],
  ["ISTIO_DUAL_STACK", ["--dual-stack"]],
  ["INVALID_DROP", ["--drop-invalid"]],
] as const;

/** Decides from a pod's API object whether and how to capture the pod. */
export function captureOf(pod: KubeObject): CaptureOf {
  const spec = mapAt(pod, "spec");
  const metadata = mapAt(pod, "metadata");
  const annotations = mapAt(metadata, "annotations");
  // Includes init containers, because a native sidecar is an init container.
  const containers = [...mapsAt(spec, "initContainers"), ...mapsAt(spec, "containers")];
  const named = (name: string) => containers.find((container) => textAt(container, "name") === name);
  const proxy = named("istio-proxy");
  const skip = (reason: string) => ({ captured: false, reason }) as const;
  if (spec["hostNetwork"] === true) return skip("it uses the host network");
  if (named("istio-init") !== undefined) return skip("its container istio-init applies the rules");
  if (proxy === undefined) return skip("it has no container istio-proxy");
  if (variable(proxy, "DISABLE_ENVOY")) return skip("DISABLE_ENVOY of istio-proxy is true");
  const role = roleOf(proxy);
  if (role !== "sidecar") return skip(`its proxy is a ${role}`);
  if (isOptedOut(metadata)) return skip(`${LABEL.inject} is false`);
  if (!Object.hasOwn(annotations, ANNOTATION.status)) return skip(`it has no annotation ${ANNOTATION.status}`);
  if (textAt(annotations, ANNOTATION.interceptionMode) === "NONE") {
    return skip(`${ANNOTATION.interceptionMode} is NONE`);
  }
  return { captured: true, args: argumentsOf(annotations, proxy, named("istio-validation")) };
}

function argumentsOf(annotations: ValueMap, proxy: ValueMap, validation: ValueMap | undefined): string[] {
  const security = mapAt(proxy, "securityContext");
  const excluded = (textOf(annotations, ANNOTATION.excludeInboundPorts) ?? "15020").split(",").map((port) =>
    port.trim()
  );
  return [
    ...["-p", argument(validation, "-p") ?? "15001", "-z", argument(validation, "-z") ?? "15006"],
    ...["-u", idOf(security, "runAsUser"), "-g", idOf(security, "runAsGroup")],
    ...SETTINGS.flatMap(([flag, names, value]) => [flag, firstOf(annotations, names) ?? value]),
    ...[
      "-d",
      [...new Set([...excluded.filter((port) => port !== ""), ...UNCAPTURED_PORTS.map(String).toReversed()])].join(","),
    ],
    ...SWITCHES.flatMap(([name, flags]) => variable(proxy, name) ? flags : []),
  ];
}

function firstOf(annotations: ValueMap, names: readonly string[]): string | undefined {
  return names.map((name) => textOf(annotations, name)).find((text) => text !== undefined);
}

function textOf(map: ValueMap, name: string): string | undefined {
  return Object.hasOwn(map, name) ? textAt(map, name) : undefined;
}

/** Returns the role in the arguments `proxy ROLE`; by default, `sidecar`. */
function roleOf(proxy: ValueMap): string {
  const [command, role = "sidecar"] = textsAt(proxy, "args");
  return command === "proxy" ? role : "sidecar";
}

/** Whether a label or annotation turns off injection. The label wins over the annotation. */
function isOptedOut(metadata: ValueMap): boolean {
  const [labels, annotations] = [mapAt(metadata, "labels"), mapAt(metadata, "annotations")];
  return parseBool(textOf(labels, LABEL.inject) ?? textAt(annotations, ANNOTATION.inject)) === false;
}

/** Whether a variable of a container is true, in the spellings that Go accepts. */
function variable(container: ValueMap, name: string): boolean {
  const found = mapsAt(container, "env").find((each) => textAt(each, "name") === name);
  return found !== undefined && parseBool(textAt(found, "value")) === true;
}

/**
 * Returns the user or group of the proxy. Root counts as unset, because excluding root would exclude most applications.
 */
function idOf(security: ValueMap, key: string): string {
  return String(intAt(security, key) || 1337);
}

/** Returns the value of a flag of istio-validation. In a mesh with custom ports, these flags show the ports. */
function argument(container: ValueMap | undefined, flag: string): string | undefined {
  const args = container === undefined ? [] : textsAt(container, "args");
  const at = args.indexOf(flag);
  return at < 0 ? undefined : args[at + 1];
}
