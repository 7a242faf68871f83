/** Tracks the state of the connection to istiod, for readiness and the log. */
import { type Logger, logText } from "../../platform/log.ts";

export type ConnectionStatus = ReturnType<typeof connectionStatus>;

/** Tracks the connection. Envoy reconnects forever, so a repeated problem is logged as a warning only once. */
export function connectionStatus(address: string, log: Logger) {
  let problem: string | undefined;
  let warned: string | undefined;
  return {
    problem: () => problem,
    connected(): void {
      problem = warned = undefined;
      log.info(logText(`connected to the control plane "${address}"`));
    },
    waiting: (text: string) => void (problem = text),
    failed(text: string): void {
      if (text === warned) log.debug(logText(text));
      else log.warning(logText(text));
      warned = text;
      problem = text;
    },
    /** Logs the end of a connection, with a reason if istiod's side broke it. */
    ended(reason: string | undefined): void {
      if (reason === undefined) return log.info(logText(`the connection to "${address}" has ended`));
      log.warning(logText(`the connection to "${address}" broke: ${reason}`));
      problem = reason;
    },
  };
}
