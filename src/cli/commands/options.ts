import { EXIT } from "../../base/errors.ts";
import type { FlagGroups } from "../../golang/flags/mod.ts";
import { columnsOf } from "../../platform/terminal.ts";
import { type Command, command } from "../command.ts";
import { CLUSTER } from "../shared_flags.ts";

const FLAGS = { "Cluster": CLUSTER } as const satisfies FlagGroups;

/** `kubectl mesh options`: lists the flags of all commands that connect to a cluster, as `kubectl options` does. */
export const OPTIONS: Command = command({
  summary: "List the flags of all commands that connect to a cluster",
  examples: [{ command: "kubectl mesh options" }],
  flags: FLAGS,
  exits: { ok: "the flags are printed", usage: true },
  run: async (world) => {
    const { helpText } = await import("../views/help.ts");
    world.stdout.write(await helpText(OPTIONS, "kubectl mesh options", columnsOf(world)));
    return EXIT.ok;
  },
});
