import { MeshError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";

/** The next step after an error about Envoy's binary. */
export const BINARY_HINT = "this command is for a pod with Envoy; --binaryPath, or binaryPath of ProxyConfig, names " +
  "the Envoy binary";

/**
 * Throws a `MeshError` if Envoy's binary is absent. Call this before anything is written, so that on a machine without
 * Envoy the agent leaves no folders behind in the working directory.
 */
export async function checkBinary(
  { files, processes }: Pick<World, "files" | "processes">,
  binary: string,
): Promise<void> {
  // A path that cannot be examined counts as found: if it is not a program, the attempt to start it shows the reason.
  const found = binary.includes("/") ? await files.stat(binary).catch(() => binary) : processes.find(binary);
  if (found === undefined) throw new MeshError(`Cannot start "${binary}": program not found`, { hint: BINARY_HINT });
}
