/** Waits until each URL has returned status 200. Then, the command replaces this process or runs as its child. */
export { runWait } from "./run.ts";
export { DEFAULTS, type WaitOptions } from "./options.ts";
export { logReporter, pilotAgentReporter } from "./reporter.ts";
