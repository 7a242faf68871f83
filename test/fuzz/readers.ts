/** All readers of untrusted input. They are loaded on demand, because each needs a different part of the program. */
import type { FuzzReader } from "./reader.ts";

const LOADS: Readonly<Record<string, () => Promise<FuzzReader>>> = {
  "yaml": async () => (await import("./readers/yaml.ts")).YAML,
  "manifests": async () => (await import("./readers/manifests.ts")).MANIFESTS,
  "annotations": async () => (await import("./readers/annotations.ts")).ANNOTATIONS,
  "templates": async () => (await import("./readers/templates.ts")).TEMPLATES,
  "configuration": async () => (await import("./readers/configuration.ts")).CONFIGURATION,
  "reviews": async () => (await import("./readers/reviews.ts")).REVIEWS,
  "sds": async () => (await import("./readers/sds.ts")).SDS,
  "xds": async () => (await import("./readers/xds.ts")).XDS,
  "dns": async () => (await import("./readers/dns.ts")).DNS,
  "status": async () => (await import("./readers/status.ts")).STATUS,
  "kubeconfig": async () => (await import("./readers/kubeconfig.ts")).KUBECONFIG,
  "config-dump": async () => (await import("./readers/config_dump.ts")).CONFIG_DUMP,
  "certificates": async () => (await import("./readers/certificates.ts")).CERTIFICATES,
  "agent-texts": async () => (await import("./readers/agent_texts.ts")).AGENT_TEXTS,
  "kernel": async () => (await import("./readers/kernel.ts")).KERNEL,
};

export const READERS: readonly string[] = Object.keys(LOADS);

/** Loads a reader. Throws if there is no reader of this name. */
export async function loadReader(name: string): Promise<FuzzReader> {
  const load = LOADS[name];
  if (load === undefined) throw new Error(`No reader "${name}": there are ${READERS.join(", ")}`);
  return await load();
}
