/** Applies or checks the rules of one pod for the CNI plugin, which passes the settings as arguments. */
import { MeshError } from "../base/errors.ts";
import { type Logger, logText } from "../platform/log.ts";
import type { World } from "../platform/world.ts";
import { pending } from "./apply/apply.ts";
import { holdsOwned } from "./apply/survey.ts";
import { enterNamespace, ownerNames } from "./environment.ts";
import * as work from "./job.ts";
import { readSettings } from "./settings/read.ts";

/** The arguments of `iptables apply`, and their names in messages. */
export interface CaptureOptions {
  readonly args: readonly string[];
  readonly log: Logger;
  /** Returns the name that messages use for a flag, such as the pod's annotation. */
  readonly originOf: (flag: string) => string;
}

/** The result of comparing a pod's rules with its settings. */
export interface Comparison {
  /** One line for each difference. */
  readonly differences: readonly string[];
  /** Whether the namespace contains no owned rules. */
  readonly isFree: boolean;
}

/** A pod whose network namespace this process has entered. */
export interface PodCapture {
  /** Applies the rules. A failure restores the previous rules and rejects with a `MeshError`. */
  apply(): Promise<void>;
  /** Compares without changing rules. Rejects with a `MeshError` if the rules cannot be read. */
  compare(): Promise<Comparison>;
}

/**
 * Reads the settings from the arguments only, and enters the network namespace. This process then stays in that
 * namespace. Rejects with a `MeshError`.
 */
export async function openCapture(world: World, { args, log, originOf }: CaptureOptions): Promise<PodCapture> {
  const names = await ownerNames(world);
  const { settings, given, problems, warnings } = readSettings(args, {}, { ...names, refusesArguments: true });
  if (settings === undefined) {
    const [first = "", ...rest] = problems.map(({ origin, reason }) => `${originOf(origin)}: ${reason}`);
    throw new MeshError(`The settings of the pod are invalid: ${first}`, { rest });
  }
  warnings.forEach((warning) => log.warn(logText(warning)));
  enterNamespace(world, settings.run.networkNamespace);
  const logBlock = (text: string) => log.debug(logText(text));
  const job: work.Job = { world, log, logBlock, names, settings, given, mode: "apply" };
  return {
    apply: () => work.apply(job, false),
    compare: async () => {
      const { differences, before } = await pending(world, await work.planOf(job), work.applyOptions(job));
      return { differences, isFree: !before.holdings.some(holdsOwned) };
    },
  };
}
