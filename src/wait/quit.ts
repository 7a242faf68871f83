import { shownUrl } from "../base/shown_url.ts";
import type { World } from "../platform/world.ts";
import type { Shutdown } from "./options.ts";
import { answered, unanswered } from "./probe.ts";
import type { Reporter } from "./reporter.ts";

const ATTEMPTS = 3;
const PAUSE = 200;
const LIMIT = 5_000;

/** Requests that the proxy quit. A failure is only a warning. */
export async function askToQuit(
  world: World,
  { url, when }: Shutdown,
  code: number,
  reporter: Reporter,
): Promise<void> {
  if (when === "success" && code !== 0) {
    return await reporter.note(`The proxy keeps running: the command exited with code ${code}`);
  }
  for (let attempt = 1;; attempt++) {
    const failure = await post(world, url);
    if (failure === undefined) return;
    if (attempt === ATTEMPTS) {
      return await reporter.warn(`Cannot stop the proxy, the pod may keep running: POST ${shownUrl(url)}: ${failure}`);
    }
    await world.clock.sleep(PAUSE);
  }
}

async function post(world: World, url: string): Promise<string | undefined> {
  try {
    const response = await world.network.request(url, { method: "POST", signal: AbortSignal.timeout(LIMIT) });
    await response.body?.cancel();
    return response.ok ? undefined : answered(response.status).seen;
  } catch (error) {
    return unanswered(error, LIMIT).seen;
  }
}
