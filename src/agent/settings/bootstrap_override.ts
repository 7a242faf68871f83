/** What Envoy merges over its bootstrap. Source: Istio's envoy.readBootstrapToJSON. */
import { messageOf } from "../../core/errors.ts";
import { goJson } from "../../core/gojson.ts";
import { parseYaml } from "../../core/yaml/mod.ts";
import type { World } from "../../core/world/world.ts";

/**
 * A file, YAML or JSON, as compact JSON with sorted keys; `$(HOST_IP)` in it is the node's address, in brackets if it is an
 * IPv6 one. `""` without a file; a file that cannot be read is a warning, and Envoy starts without it.
 */
export async function readBootstrapOverride(
  world: World,
  file: string,
  hostIp: string,
  warnings: string[],
): Promise<string> {
  if (file === "") return "";
  try {
    return goJson(parseYaml(withHostIp(await world.files.readText(file), hostIp)));
  } catch (error) {
    warnings.push(`ISTIO_BOOTSTRAP_OVERRIDE is passed over: ${messageOf(error)}`);
    return "";
  }
}

function withHostIp(text: string, hostIp: string): string {
  if (!hostIp.includes(":")) return text.replaceAll("$(HOST_IP)", () => hostIp);
  const bracketed = `[${hostIp}]`;
  return text.replaceAll("[$(HOST_IP)]", () => bracketed).replaceAll("$(HOST_IP)", () => bracketed);
}
