/** Waits until each URL has answered 200; then the command replaces this process or runs as its child. */
export { runWait } from "./run.ts";
export { DEFAULTS, type WaitOptions } from "./options.ts";
export { logReporter, pilotAgentReporter } from "./reporter.ts";
