/**
 * Runs `iptables cni on-node ROOT PROGRAM`, which replaces this process with the program. The program gets the node's
 * root file system.
 */
import { MeshError } from "../../base/errors.ts";
import { ENOENT, SystemError, type World } from "../../platform/mod.ts";

/**
 * Executes a program with the root file system at `root`. Throws a `MeshError` with the reason if the program does not
 * start.
 */
export function becomeOnNode({ system }: World, root: string, program: string): never {
  try {
    system.enterRoot(root);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new MeshError(`Cannot enter the root file system of the node, "${root}": ${error.message}`, {
      hint: "the container needs the capabilities SYS_CHROOT and SYS_PTRACE",
    });
  }
  try {
    return system.execute(program, ["iptables", "cni"]);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    // The program exists, so ENOENT means that its dynamic loader is missing.
    const reason = error.errno === ENOENT ? "the node lacks the dynamic loader for this program" : error.message;
    throw new MeshError(`Cannot start "${program}": ${reason}`);
  }
}
