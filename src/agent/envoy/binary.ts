import { MeshError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";

/** The next step after an error about Envoy's binary. */
export const BINARY_HINT = "this command is for a pod with Envoy; --binaryPath, or binaryPath of ProxyConfig, names " +
  "the Envoy binary";

/**
 * Throws a `MeshError` if Envoy's binary is absent. Call this before writing any file: without Envoy, the agent must
 * not leave folders behind in the working directory.
 */
export async function checkBinary(
  { files, processes }: Pick<World, "files" | "processes">,
  binary: string,
): Promise<void> {
  // If `stat` fails, the binary counts as found. Starting the binary then reports the reason.
  const found = binary.includes("/") ? await files.stat(binary).catch(() => binary) : processes.find(binary);
  if (found === undefined) throw new MeshError(`Cannot start "${binary}": program not found`, { hint: BINARY_HINT });
}
