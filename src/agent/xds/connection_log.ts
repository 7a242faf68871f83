/** What is known of the way to the control plane, for readiness, and lines of the log when that changes. */
import { type Logger, logText } from "../../core/log.ts";

/** Told by each connection. */
export interface Health {
  /** In one line. */
  problem(): string | undefined;
  /** A connection has been made. */
  connected(): void;
  /** One will be made when something is there. */
  waiting(problem: string): void;
  /** None could be made. */
  failed(problem: string): void;
  /** One that was made has ended; a reason if the control plane's side broke. */
  ended(reason: string | undefined): void;
}

/** Envoy tries again for as long as it lives: the same problem is a warning once. */
export function healthOf(address: string, log: Logger): Health {
  let problem: string | undefined;
  let warned: string | undefined;
  return {
    problem: () => problem,
    connected() {
      problem = warned = undefined;
      log.info(logText(`connected to the control plane "${address}"`));
    },
    waiting: (text) => problem = text,
    failed(text) {
      if (text === warned) log.debug(logText(text));
      else log.warning(logText(text));
      warned = text;
      problem = text;
    },
    ended(reason) {
      if (reason === undefined) return log.info(logText(`the connection to "${address}" has ended`));
      log.warning(logText(`the connection to "${address}" broke: ${reason}`));
      problem = reason;
    },
  };
}
