/** Waits until each URL has answered 200; then the command replaces this process or runs as its child. */
export { runWait } from "./run.ts";
export { DEFAULTS, type Shutdown, type WaitOptions } from "./options.ts";
export { logReporter, type LogReporterOptions, pilotAgentReporter, type Reporter } from "./reporter.ts";
