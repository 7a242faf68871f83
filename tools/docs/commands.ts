/** The commands that users see. Their documentation is generated from this list. */
import type { FlagGroups } from "../../src/golang/flags/mod.ts";
import type { Command } from "../../src/cli/command.ts";
import { PLUGIN } from "../../src/cli/commands/plugin.ts";

/** A command with its name. */
export interface NamedCommand {
  /** `webhook serve`; `""` for the program itself. */
  readonly name: string;
  /** `kubectl mesh webhook serve`. */
  readonly program: string;
  readonly command: Command;
  readonly groups: FlagGroups;
}

/** Returns the command and all visible commands below it. */
export async function allCommands(command: Command = PLUGIN, name = ""): Promise<NamedCommand[]> {
  const program = `kubectl mesh ${name}`.trim();
  const below = Object.entries(command.commands).map(async ([word, load]) => {
    return await allCommands(await load(), `${name} ${word}`.trim());
  });
  return [{ name, program, command, groups: await command.flags() }, ...(await Promise.all(below)).flat()];
}
