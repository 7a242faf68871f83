/** The state of the connection to istiod, for readiness and the log. */
import { type Logger, logText } from "../../platform/log.ts";

export interface ConnectionStatus {
  problem(): string | undefined;
  connected(): void;
  waiting(problem: string): void;
  failed(problem: string): void;
  /** A connection ended; with a reason if istiod's side broke it. */
  ended(reason: string | undefined): void;
}

/** Envoy reconnects forever: a repeated problem is a warning once. */
export function connectionStatus(address: string, log: Logger): ConnectionStatus {
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
