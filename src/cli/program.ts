import { Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { EXIT, UsageError } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import { injectCommand } from "./commands/inject.ts";
import { versionCommand, versionText } from "./commands/version.ts";
import type { Session } from "./session.ts";
import { pflag } from "./pflag.ts";
import { usageProblem } from "./usage_problem.ts";

/** Runs one command line: finds the command, reads its flags, lets it work. Returns the exit code. */
export async function runProgram(world: World, args: readonly string[]): Promise<number> {
  const session: Session = { world, exitCode: EXIT.ok };
  const program = plugin(session);
  const command = program.commands.find((each) => each.name() === args[0]);
  try {
    await program.parseAsync(command === undefined ? unknownWords(args) : pflag(args, command), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return endOfParsing(error, command);
  }
  return session.exitCode;
}

/** What follows a command that is not there says nothing; `--help` must not hide that. */
function unknownWords(args: readonly string[]): string[] {
  return args[0]?.startsWith("-") ? [...args] : args.slice(0, 1);
}

function plugin(session: Session): Command {
  const { world } = session;
  const program = new Command("kubectl mesh")
    .usage("COMMAND [flags]")
    .description("Put workloads into an Istio mesh, and run the mesh's side of a pod.")
    .version(versionText(), "--version", "print the version")
    .helpCommand("help [command]", "show the help of a command")
    .showSuggestionAfterError(true);
  program.addCommand(injectCommand(session));
  for (const [name, summary] of RAW_COMMANDS) program.addCommand(new Command(name).summary(summary));
  program.addCommand(versionCommand(session));
  for (const command of [program, ...program.commands]) {
    command.helpOption("-h, --help", "show this help").exitOverride().configureOutput({
      writeOut: (text) => world.stdout.write(text),
      writeErr: () => {},
      outputError: () => {},
    });
  }
  return program;
}

/** The words of these go to raw.ts; here they are for the help and for suggestions. */
const RAW_COMMANDS: readonly (readonly [name: string, summary: string])[] = [
  ["check", "is this cluster ready for the mesh, and are its workloads in it"],
  ["iptables", "capture a pod's traffic"],
  ["agent", "run the proxy of a pod, and tell it to drain or to quit"],
  ["wait", "block until the proxy is ready, then become a command"],
  ["webhook", "inject pods when they are created"],
];

const HELP_CODES: readonly string[] = ["commander.helpDisplayed", "commander.help", "commander.version"];

/** commander ends by throwing: after help that was asked for, and on a wrong command line. */
function endOfParsing(error: CommanderError, command: CommandUnknownOpts | undefined): number {
  if (HELP_CODES.includes(error.code)) return EXIT.ok;
  const { message, hint } = usageProblem(error.message, command);
  const name = command === undefined ? "kubectl mesh" : `kubectl mesh ${command.name()}`;
  throw new UsageError(message, { hint: hint ?? `see "${name} --help"` });
}
