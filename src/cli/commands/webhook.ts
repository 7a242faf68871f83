import { EXIT, UsageError } from "../../core/errors.ts";
import { closest } from "../../core/closest.ts";
import type { World } from "../../core/world/world.ts";
import { helpText } from "../help.ts";

const PROGRAM = "kubectl mesh webhook";

interface Subcommand {
  readonly name: string;
  readonly line: string;
  readonly run: (world: World, args: readonly string[]) => Promise<number>;
}

const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: "serve",
    line: "answer the API server's reviews of pods",
    run: async (world, args) => (await import("./webhook_serve.ts")).webhookServe(world, args),
  },
  {
    name: "manifests",
    line: "print what has to be applied to run it in a cluster",
    run: async (world, args) => (await import("./webhook_manifests.ts")).webhookManifests(world, args),
  },
];

/** What `webhook serve` starts by itself; not for people, and not in the help. */
const HIDDEN: readonly Pick<Subcommand, "name" | "run">[] = [
  { name: "worker", run: async (world) => (await import("../../webhook/mod.ts")).runWorker(world) },
];

/** `kubectl mesh webhook COMMAND ARGS`. */
export async function webhookCommand(world: World, args: readonly string[]): Promise<number> {
  const [first = "", ...rest] = args;
  const found = [...SUBCOMMANDS, ...HIDDEN].find(({ name }) => name === first);
  if (found !== undefined) return await found.run(world, rest);
  if (args.some((word) => word === "--help" || word === "-h")) {
    world.stdout.write(help());
    return EXIT.ok;
  }
  if (first === "") throw new UsageError("The command is missing", { hint: `see "${PROGRAM} --help"` });
  const meant = closest(first, SUBCOMMANDS.map(({ name }) => name));
  throw new UsageError(`Unknown command "webhook ${first}"`, {
    hint: meant === undefined ? `see "${PROGRAM} --help"` : `did you mean "${meant}"?`,
  });
}

function help(): string {
  return helpText({
    usage: `${PROGRAM} COMMAND [flags]`,
    description: "Inject pods when they are created: the mutating webhook of a cluster.",
    commands: SUBCOMMANDS.map(({ name, line }) => [name, line] as const),
    after: `Use "${PROGRAM} COMMAND --help" for the flags of a command.`,
  });
}
