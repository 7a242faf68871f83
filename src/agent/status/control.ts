/** Requests that end the agent or drain Envoy: `/quitquitquit` and `/drain`. */
import type { Logger } from "../../core/log.ts";
import type { Clock } from "../../core/world/world.ts";
import { textAnswer } from "./answers.ts";

/** What such a request sets off. */
export interface Control {
  readonly path: string;
  /** For the log. */
  readonly effect: string;
  readonly action: () => void;
}

/** If the end of the request is not noticed, the action is taken after so long. */
const PATIENCE = 100;

/** Answers `OK`, and acts when the answer was sent: the action may end this process. */
export function controlHandler({ path, effect, action }: Control, logger: Logger, clock: Clock) {
  return (request: Request): Response => {
    logger.info(`handling ${path}, ${effect}`);
    const sent = new AbortController();
    request.signal.addEventListener("abort", () => sent.abort(), { once: true });
    clock.sleep(PATIENCE, sent.signal).then(action);
    return textAnswer(200, "OK");
  };
}
