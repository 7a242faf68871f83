import type { World } from "../core/world/world.ts";
import type { Shutdown } from "./options.ts";
import { answered, unanswered } from "./probe.ts";
import type { Voice } from "./reporter.ts";

const ATTEMPTS = 3;
const PAUSE = 200;
const LIMIT = 5_000;

/** Tells the proxy to quit after a command that ended with this code. That it cannot be told is a warning. */
export async function tellToQuit(world: World, { url, when }: Shutdown, code: number, voice: Voice): Promise<void> {
  if (when === "success" && code !== 0) {
    return await voice.note(`The proxy goes on: the command ended with the code ${code}`);
  }
  for (let attempt = 1;; attempt++) {
    const failure = await post(world, url);
    if (failure === undefined) return;
    if (attempt === ATTEMPTS) {
      return await voice.warn(`The proxy could not be told to quit, the pod may go on: POST ${url}: ${failure}`);
    }
    await world.clock.sleep(PAUSE);
  }
}

/** What went wrong, or `undefined`. */
async function post(world: World, url: string): Promise<string | undefined> {
  try {
    const response = await world.network.request(url, { method: "POST", signal: AbortSignal.timeout(LIMIT) });
    await response.body?.cancel();
    return response.ok ? undefined : answered(response.status).seen;
  } catch (error) {
    return unanswered(error, LIMIT).seen;
  }
}
