/** Removes the annotations that injection added. */
import { parseJson } from "../../base/json.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { isList, isMap, textAt, type Value } from "../../base/value.ts";
import { goJson } from "../../golang/go_json.ts";
import { withAnnotations } from "../pod/change.ts";
import {
  annotation,
  annotationsOf,
  containersOf,
  INIT,
  type Pod,
  TEMPLATE_CONTAINERS,
  VALIDATION,
} from "../pod/pod.ts";
import { applicationOf, type Doubt, type Evidence, isOlder, STAYS } from "./evidence.ts";

type Changes = Record<string, string | undefined>;

/** Names of the templates in Istio's configurations. */
const TEMPLATES: readonly string[] = ["sidecar", "gateway", "grpc-agent", "grpc-simple"];

function templatesOf(pod: Pod): readonly string[] {
  return (annotation(pod, ANNOTATION.templates) ?? "").split(",").map((name) => name.trim()).filter((name) =>
    name !== ""
  );
}

/** Adds a doubt if the pod uses custom templates: these may set fields that the status annotation does not list. */
export function ownTemplates(pod: Pod, _: Evidence, doubts: Doubt[]): Pod {
  const names = templatesOf(pod).filter((name) => !TEMPLATES.includes(name)).map((name) => `"${name}"`);
  if (names.length === 0) return pod;
  const which = `the ${names.length === 1 ? "template" : "templates"} ${names.join(", ")}`;
  const message = `${which} may also have set fields other than containers and volumes, which are unknown and stay`;
  doubts.push({ field: `metadata.annotations["${ANNOTATION.templates}"]`, message });
  return pod;
}

export function annotations(pod: Pod, evidence: Evidence, doubts: Doubt[]): Pod {
  const cni = capturedByCni(evidence) ? forCni(pod, doubts) : {};
  const changes: Changes = { ...own(pod, evidence), ...ofContainers(pod), ...cni, ...networks(pod) };
  const present = Object.entries(changes).filter(([name]) => annotation(pod, name) !== undefined);
  return present.length === 0 ? pod : withAnnotations(pod, Object.fromEntries(present));
}

function own(pod: Pod, evidence: Evidence): Changes {
  const changes: Changes = { [ANNOTATION.status]: undefined, [ANNOTATION.overrides]: undefined };
  if (annotation(pod, ANNOTATION.revision) === evidence.revision) changes[ANNOTATION.revision] = undefined;
  const rewrites = ANNOTATION.rewriteAppProbers;
  // Templates without Envoy turn off the rewriting of probes.
  const isProxyless = templatesOf(pod).some((name) => name.startsWith("grpc-"));
  if (isProxyless && annotation(pod, rewrites) === "false") changes[rewrites] = undefined;
  const names = applicationOf(pod, evidence);
  const name = containersOf(pod, "containers").map((each) => textAt(each, "name")).find((each) => names.includes(each));
  for (const key of [ANNOTATION.defaultContainer, ANNOTATION.defaultLogsContainer]) {
    // Without this annotation, kubectl uses the first container.
    if (annotation(pod, key) === name && !isOlder(pod, "annotations", key)) changes[key] = undefined;
  }
  return changes;
}

/** Finds annotations whose name ends with the name of an injected container, such as AppArmor's. */
function ofContainers(pod: Pod): Changes {
  const names = Object.keys(annotationsOf(pod)).filter((name) => {
    const [group = "", container = ""] = name.split("/");
    return group.startsWith("container.") && TEMPLATE_CONTAINERS.includes(container);
  });
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

/** Whether the CNI plugin captures traffic: istio-init is missing, or istio-validation exists (since Istio 1.9). */
function capturedByCni({ added }: Evidence): boolean {
  return added.initContainers.includes(VALIDATION) || !added.initContainers.includes(INIT);
}

/** Annotations for the CNI plugin, with the value that injection writes if the pod and the values do not set one. */
const CNI_DEFAULTS: Readonly<Record<string, string>> = {
  [ANNOTATION.interceptionMode]: "REDIRECT",
  [ANNOTATION.includeOutboundIpRanges]: "*",
  [ANNOTATION.excludeOutboundIpRanges]: "",
  [ANNOTATION.includeInboundPorts]: "*",
  [ANNOTATION.excludeInboundPorts]: "",
  [ANNOTATION.includeOutboundPorts]: "",
  [ANNOTATION.excludeOutboundPorts]: "",
};

function forCni(pod: Pod, doubts: Doubt[]): Changes {
  const changes: Changes = {};
  for (const [name, standard] of Object.entries(CNI_DEFAULTS)) {
    const text = annotation(pod, name);
    if (text === undefined || isOlder(pod, "annotations", name)) continue;
    const before = name === ANNOTATION.excludeInboundPorts ? withoutAgentPort(text, pod) : text;
    changes[name] = before === standard ? undefined : before;
    if (before !== standard) doubts.push({ field: `metadata.annotations["${name}"]`, message: STAYS });
  }
  return changes;
}

/** Removes the agent's port from the end of the list, where injection added it. */
function withoutAgentPort(ports: string, pod: Pod): string {
  const agent = annotation(pod, ANNOTATION.statusPort)?.trim() ?? "15020";
  const items = ports.split(",");
  return items.at(-1) === agent ? items.slice(0, -1).join(",") : ports;
}

const NETWORK = "istio-cni";

/** Removes Istio's network from the annotation for Multus, which is a JSON or comma-separated list. */
function networks(pod: Pod): Changes {
  const text = annotation(pod, ANNOTATION.multusNetworks);
  if (text === undefined || !text.includes(NETWORK)) return {};
  return { [ANNOTATION.multusNetworks]: text.includes("]") ? withoutItem(text) : withoutName(text) };
}

function withoutName(text: string): string | undefined {
  const names = text.split(",").map((name) => name.trim());
  const left = names.filter((name) => name !== NETWORK && !name.endsWith(`/${NETWORK}`));
  return left.length === 0 ? undefined : left.length === names.length ? text : left.join(", ");
}

/** Removes the object that injection added before the last bracket of a JSON list, so that the user's text is restored. */
function withoutItem(text: string): string | undefined {
  const appended = /,\s*\{\s*"name":\s*"istio-cni"(?:,\s*"namespace":\s*"[^"]*")?\s*\}\s*(?=\][^\]]*$)/;
  if (appended.test(text)) return text.replace(appended, "");
  const value = parseJson(text);
  if (value === undefined) return text;
  const left = isList(value) ? value.filter((item: Value) => !isMap(item) || item["name"] !== NETWORK) : [];
  return left.length === 0 ? undefined : goJson(left);
}
