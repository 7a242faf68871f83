import { EXIT } from "../../base/errors.ts";
import { type Command, commandGroup } from "../command.ts";

/** What shells ask while a command line of `program` is typed: kubectl runs it under the name `kubectl_complete-mesh`. */
export function completing(program: Command): Command {
  return {
    ...commandGroup({ summary: "Print what may follow the words of a command line", commands: {} }),
    start: async (world, words) => {
      const [{ complete, completionText, DIRECTIVE }, { findIn }] = await Promise.all([
        import("../completion/complete.ts"),
        import("../completion/find.ts"),
      ]);
      // A person is typing: an error would stand in the middle of the line.
      const failed = { candidates: [], directive: DIRECTIVE.error };
      world.stdout.write(completionText(await complete(program, words, findIn(world)).catch(() => failed)));
      return EXIT.ok;
    },
  };
}
