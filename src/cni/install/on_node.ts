/** `iptables cni on-node ROOT PROGRAM`: becomes the program, with the root file system of the node. */
import { MeshError } from "../../base/errors.ts";
import { ENOENT, SystemError, type World } from "../../platform/mod.ts";

/** Throws a `MeshError` that says why the program does not start there. */
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
    // The file is there: its loader is not.
    const reason = error.errno === ENOENT ? "the node has no loader for it" : error.message;
    throw new MeshError(`Cannot start "${program}": ${reason}`);
  }
}
