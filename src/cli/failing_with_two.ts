import { EXIT } from "../base/errors.ts";
import type { World } from "../platform/world.ts";
import { reportFailure } from "./failure.ts";

/**
 * Runs a comparison; returns its exit code. As in diff(1), a failure of any kind has exit code 2, because 1 means a
 * difference. The failure is reported here.
 */
export async function failingWithTwo(world: World, compare: () => Promise<number>): Promise<number> {
  try {
    return await compare();
  } catch (error) {
    const code = reportFailure(world, error);
    return code === EXIT.failed ? EXIT.usage : code;
  }
}
