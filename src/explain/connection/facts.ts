/** All that a capture tells, read once. */
import { mapAt, textAt } from "../../base/value.ts";
import type { AbsentPart, Capture } from "../capture/capture.ts";
import { jsonOf } from "../capture/json_part.ts";
import { type EnvoyConfig, readEnvoy } from "../envoy/config.ts";
import type { ProbedCapture } from "../evidence.ts";
import { type KernelRules, kernelRules } from "../kernel/rules.ts";
import { type NameTable, nameTableOf } from "../names/resolve.ts";
import { type Pod, podOf } from "../pod.ts";

/** What the stations are made of. */
export interface Facts {
  readonly capture: ProbedCapture;
  readonly pod: Pod | undefined;
  /** `undefined`: `absent` says why. */
  readonly config: EnvoyConfig | undefined;
  readonly absent: AbsentPart | undefined;
  readonly kernel: KernelRules;
  readonly names: NameTable | undefined;
  /** Of names: `shop`, `cluster.local`. */
  readonly namespace: string;
  readonly domain: string;
  /** Addresses of the pod. */
  readonly addresses: readonly string[];
}

const DOMAIN = "cluster.local";

/** Reads a capture. */
export function factsOf(capture: ProbedCapture): Facts {
  const pod = podOf(capture);
  const { config, absent } = readEnvoy(capture);
  const [address, domain] = nodeOf(capture, config);
  return {
    capture,
    pod,
    config,
    absent,
    kernel: kernelRules(capture, pod),
    names: nameTableOf(capture),
    namespace: capture.pod.namespace || pod?.namespace || domain.split(".svc.")[0] || "",
    domain: domain.split(".svc.").slice(1).join(".svc.") || DOMAIN,
    addresses: pod !== undefined && pod.addresses.length > 0 ? pod.addresses : address === "" ? [] : [address],
  };
}

/** Istio's node is `sidecar~10.1.0.9~web-1.shop~shop.svc.cluster.local`. */
function nodeOf(capture: Capture, config: EnvoyConfig | undefined): readonly [address: string, domain: string] {
  const info = jsonOf(capture.parts["server_info.json"], "server_info.json").value;
  const bootstrap = config?.sections.get("BootstrapConfigDump");
  const ids = [
    info === undefined ? "" : textAt(mapAt(info, "node"), "id"),
    bootstrap === undefined ? "" : textAt(mapAt(mapAt(bootstrap, "bootstrap"), "node"), "id"),
  ];
  const [, address = "", , domain = ""] = (ids.find((id) => id.includes("~")) ?? "").split("~");
  return [address, domain];
}
