import { EXIT } from "../../core/errors.ts";
import { type Command, commandGroup } from "../command.ts";

/** What shells ask while a command line is typed: kubectl runs it under the name `kubectl_complete-mesh`. */
export const COMPLETE: Command = {
  ...commandGroup({ summary: "Print what may follow the words of a command line", commands: {} }),
  start: async (world, words) => {
    const [{ complete, completionText }, { PLUGIN }] = await Promise.all([
      import("../views/completion.ts"),
      import("./plugin.ts"),
    ]);
    world.stdout.write(completionText(await complete(PLUGIN, words)));
    return EXIT.ok;
  },
};
