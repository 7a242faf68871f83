import type { World } from "../../platform/world.ts";
import type { EnvoyAdmin } from "./admin.ts";

const FIRST_DELAY = 50;
/**
 * Maximum interval between checks, in milliseconds. The interval is short, because a shutdown drains Envoy only if a
 * check has found Envoy live.
 */
const MAX_DELAY = 250;
/** Milliseconds without any answer after which the admin interface is assumed to be at another address. */
const NO_ANSWER_TIMEOUT = 60_000;

/**
 * Waits until an epoch is live, and resolves with `true`. After a minute without any answer from the admin interface,
 * also resolves with `true`; a drain then lasts its full time. Resolves with `false` if aborted.
 */
export async function untilLive(
  world: World,
  admin: Pick<EnvoyAdmin, "isLive">,
  epoch: number,
  end: AbortSignal,
): Promise<boolean> {
  const start = world.clock.monotonic();
  let answered = false;
  for (let wait = FIRST_DELAY; !end.aborted; wait = Math.min(MAX_DELAY, wait * 1.5)) {
    try {
      const live = await admin.isLive(epoch);
      answered = true;
      if (live) return !end.aborted;
    } catch {
      // No answer yet: Envoy does not listen, or the request took too long.
      if (!answered && world.clock.monotonic() - start > NO_ANSWER_TIMEOUT) return !end.aborted;
    }
    await world.clock.sleep(wait, end);
  }
  return false;
}
