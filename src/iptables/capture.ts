/** The capture of one pod for a caller that has its settings as arguments: the CNI plugin. */
import { MeshError } from "../base/errors.ts";
import { type Logger, logText } from "../platform/log.ts";
import type { World } from "../platform/world.ts";
import { pending } from "./apply/apply.ts";
import { holdsOwned } from "./apply/survey.ts";
import { enterNamespace, ownerNames } from "./environment.ts";
import * as work from "./job.ts";
import { readSettings } from "./settings/read.ts";

/** The arguments of `iptables apply`, and how they are called in messages. */
export interface CaptureOptions {
  readonly args: readonly string[];
  readonly log: Logger;
  /** What a message calls the flag with this spelling. */
  readonly originOf: (flag: string) => string;
}

/** The rules of a pod, compared with its settings. */
export interface Comparison {
  /** A line each. */
  readonly differences: readonly string[];
  /** Whether the namespace has no owned rule at all. */
  readonly isFree: boolean;
}

/** A pod whose network namespace this process has entered. */
export interface PodCapture {
  /** Makes the rules: all or none. Rejects with a `MeshError`. */
  apply(): Promise<void>;
  /** Changes nothing. Rejects with a `MeshError` if the rules cannot be read. */
  compare(): Promise<Comparison>;
}

/** Reads the settings and enters the network namespace for good. Variables do not count. Rejects with a `MeshError`. */
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
      return { differences, isFree: before.nft.size === 0 && !before.holdings.some(holdsOwned) };
    },
  };
}
