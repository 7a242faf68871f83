import { UsageError } from "../../../base/errors.ts";
import { type Command, rawCommand } from "../../command.ts";

const load = () => import("../../../cni/mod.ts");

/** Hidden command with which the installer tests a program on the node. */
const ON_NODE = rawCommand({
  summary: "Become a program, with the root file system of the node",
  run: async (world, [root = "", program = ""]) => (await load()).becomeOnNode(world, root, program),
});

/**
 * Hidden command that the installer runs in a separate process, because a process with running servers cannot leave a
 * network namespace.
 */
const LOOK = rawCommand({
  summary: "Inspect and repair the pod that standard input describes",
  run: async (world) => await (await load()).lookIntoPod(world),
});

/** The CNI plugin. Container runtimes pass variables and a configuration on standard input, but no arguments. */
export const CNI: Command = {
  ...rawCommand({
    summary: "Capture a pod's traffic as a CNI plugin, before its containers start",
    description:
      "A container runtime calls this plugin after the plugins that create the pod's network, with CNI_* variables " +
      "and a configuration on standard input. The plugin reads the pod from the API server and creates the rules in " +
      "the pod's network namespace. It prints the result of the previous plugins, or an error as JSON.",
    examples: [{ command: "CNI_COMMAND=VERSION kubectl mesh iptables cni" }],
    exits: { ok: true, failed: "the error is on standard output", usage: true },
    commands: { install: async () => (await import("./install.ts")).CNI_INSTALL },
    run: async (world, args) => {
      const [word] = args;
      if (word === undefined) return await (await load()).runPlugin(world);
      throw new UsageError(`Unexpected argument "${word}"`, {
        hint: "container runtimes call the plugin without arguments",
      });
    },
  }),
  hiddenCommands: { "on-node": () => Promise.resolve(ON_NODE), "look": () => Promise.resolve(LOOK) },
};
