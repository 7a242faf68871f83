import { EXIT } from "../../base/errors.ts";
import { type Command, commandGroup } from "../command.ts";

/** Returns the command that shells run to complete a command line of `program`. kubectl runs it as `kubectl_complete-mesh`. */
export function completing(program: Command): Command {
  return {
    ...commandGroup({ summary: "Print the completions of a command line", commands: {} }),
    start: async (world, words) => {
      const [{ complete, completionText, DIRECTIVE }, { findIn }] = await Promise.all([
        import("../completion/complete.ts"),
        import("../completion/find.ts"),
      ]);
      // An error message would appear in the middle of the user's command line.
      const failed = { candidates: [], directive: DIRECTIVE.error };
      world.stdout.write(completionText(await complete(program, words, findIn(world)).catch(() => failed)));
      return EXIT.ok;
    },
  };
}
