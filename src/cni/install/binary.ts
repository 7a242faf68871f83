/** Installs the plugin's program on the node, and replaces it with a script at removal. */
import { MeshError, oneLine } from "../../base/errors.ts";
import { nodeCrypto } from "../../base/node_crypto.ts";
import { parseJson } from "../../base/json.ts";
import { isMap } from "../../base/value.ts";
import type { World } from "../../platform/mod.ts";
import { PLUGIN } from "./conflist.ts";
import type { InstallOptions } from "./options.ts";

const EXECUTABLE = 0o755;
/** Maximum milliseconds for a test run on a slow node. */
const TRIAL = 30_000;

type Places = Pick<InstallOptions, "binary" | "binFolder" | "hostBinFolder" | "hostProc">;

/**
 * Copies the program to the node unless the same program is there. First tests a copy on the node.
 * Returns the reason if the copy could not be tested. Rejects with a `MeshError` if copying fails, or if the program
 * does not run on the node.
 */
export async function installBinary(world: World, places: Places): Promise<string | undefined> {
  const { files } = world;
  const source = sourceOf(world, places);
  const target = `${places.binFolder}/${PLUGIN}`;
  if (await files.stat(target) !== undefined && await hashOf(world, source) === await hashOf(world, target)) {
    return undefined;
  }
  const trial = `.${PLUGIN}.new`;
  try {
    await copy(world, source, `${places.binFolder}/${trial}`);
    const untried = await tryOnNode(world, places, trial);
    await copy(world, source, target);
    return untried;
  } finally {
    await files.remove(`${places.binFolder}/${trial}`);
  }
}

/**
 * Replaces the program with a script. Runtimes that remember the plugins of a pod (CRI-O) still call the program when
 * they delete a pod that started before the removal. If the program did not exist, deleting such a pod would fail.
 */
export function replaceBinary({ files }: World, { binFolder }: Places): void {
  files.writeText(`${binFolder}/${PLUGIN}`, LEFT_BEHIND, EXECUTABLE);
}

const LEFT_BEHIND = `#!/bin/sh
# kubectl-mesh has been removed from this node. Deleting a pod that started before the removal still calls this file.
# When no such pod is left, delete this file.
case "$CNI_COMMAND" in DEL | GC | CHECK | STATUS) exit 0 ;; esac
echo '{"cniVersion":"1.0.0","code":100,"msg":"mesh-cni has been removed from this node: remove it from the network configuration"}'
exit 1
`;

function sourceOf({ machine }: World, { binary }: Places): string {
  const [own, ...rest] = machine.program;
  const source = binary ?? (rest.length === 0 ? own : undefined);
  if (source !== undefined) return source;
  throw new MeshError("Cannot install the plugin: this program runs from its sources", {
    hint: "name a compiled program with --binary, or run the compiled program",
  });
}

async function copy({ files }: World, source: string, target: string): Promise<void> {
  const file = files.replace(target, EXECUTABLE);
  try {
    for await (const chunk of files.chunks(source)) file.write(chunk);
    file.commit();
  } catch (error) {
    file.abort();
    throw error;
  }
}

async function hashOf({ files }: World, path: string): Promise<string> {
  const hash = nodeCrypto().createHash("sha256");
  for await (const chunk of files.chunks(path)) hash.update(chunk);
  return hash.digest("hex");
}

/** Runs the copy with the root file system of the node, where the loader and the C library may differ. */
async function tryOnNode(world: World, { hostProc, hostBinFolder }: Places, name: string) {
  const root = `${hostProc}/1/root`;
  if (await world.files.stat(hostProc) === undefined) return `the node's /proc is not mounted at "${hostProc}"`;
  const [command = "", ...own] = world.machine.program;
  const path = `${hostBinFolder}/${name}`;
  const { code, stdout, stderr, timedOut } = await world.processes.run({
    command,
    args: [...own, "iptables", "cni", "on-node", root, path],
    env: { CNI_COMMAND: "VERSION", MESH_ARGV0: "kubectl-mesh" },
    timeoutMilliseconds: TRIAL,
  });
  const answer = parseJson(stdout);
  if (code === 0 && isMap(answer) && "supportedVersions" in answer) return undefined;
  const why = timedOut
    ? `no answer within ${TRIAL / 1000} s`
    : oneLine(stderr || stdout).replace(/^error: /, "") || `exit code ${code}`;
  throw new MeshError(`The program does not run on this node: ${why}`, {
    hint: "the program needs glibc 2.27 or newer on the node, and a folder on a file system without noexec",
  });
}
