import { Command, CommanderError } from "@commander-js/extra-typings";
import { EXIT, UsageError } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import { injectCommand } from "./commands/inject.ts";
import { rawCommand } from "./commands/raw.ts";
import { versionCommand } from "./commands/version.ts";
import type { Session } from "./session.ts";
import { pflag } from "./pflag.ts";

/** Runs one command line: finds the command, reads its flags, lets it work. Returns the exit code. */
export async function runProgram(world: World, args: readonly string[]): Promise<number> {
  const raw = rawCommand(args);
  if (raw !== undefined) return await raw(world);
  const session: Session = { world, exitCode: EXIT.ok };
  const program = plugin(session);
  const command = program.commands.find((each) => each.name() === args[0]);
  try {
    await program.parseAsync(command === undefined ? [...args] : pflag(args, command), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return endOfParsing(error);
  }
  return session.exitCode;
}

function plugin(session: Session): Command {
  const { world } = session;
  const program = new Command("kubectl mesh")
    .description("Put workloads into an Istio mesh, and run the mesh's side of a pod.")
    .helpCommand(true)
    .showSuggestionAfterError(true);
  program.addCommand(injectCommand(session)).addCommand(versionCommand(session));
  program.addHelpText(
    "after",
    "\nTraffic capture (each has its own --help):\n  iptables generate|apply|clean|verify\n",
  );
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => world.stdout.write(text),
      writeErr: () => {},
      outputError: () => {},
    });
  }
  return program;
}

const HELP_CODES: readonly string[] = ["commander.helpDisplayed", "commander.version"];

/** commander ends by throwing: after help that was asked for, and on a wrong command line. */
function endOfParsing(error: CommanderError): number {
  if (HELP_CODES.includes(error.code)) return EXIT.ok;
  throw new UsageError(usageMessage(error), { hint: "see --help" });
}

/** `unknown option '--foo' (Did you mean --bar?)` in the grammar of our errors. */
function usageMessage(error: CommanderError): string {
  if (error.code === "commander.help") return "A command is missing";
  const text = error.message.replace(/^error: /, "").replace(/\n\((.*)\)$/s, ": $1").replaceAll("'", '"');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
