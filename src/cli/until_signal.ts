import { EXIT } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";

const ENDS = [["SIGINT", EXIT.interrupted], ["SIGTERM", EXIT.terminated]] as const;

/**
 * The exit code of this work, or that of a signal that comes first: then the process exits in order, and what it keeps in
 * the file system is removed. Without a handler a signal ends the process at once.
 */
export async function untilSignal(world: World, work: Promise<number>): Promise<number> {
  const ended = Promise.withResolvers<number>();
  const stops = ENDS.map(([name, code]) => world.signals.on(name, () => ended.resolve(code)));
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    stops.forEach((stop) => stop());
  }
}
