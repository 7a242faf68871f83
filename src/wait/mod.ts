/**
 * Waits for the proxy: URLs, limits and a command in. When each URL has answered 200, the command replaces this process or
 * runs as its child. Out: an exit code, unless the command has replaced the process.
 */
export { runWait } from "./run.ts";
export { DEFAULTS, type Shutdown, type WaitOptions } from "./options.ts";
export { logReporter, type LogReporterOptions, pilotAgentReporter, type Reporter } from "./reporter.ts";
