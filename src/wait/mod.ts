/**
 * Waiting for the proxy: URLs and limits in; when each has answered 200, the command that was held back runs, in place of
 * this process or as its child. Comes out: an exit code, unless the process has become the command.
 */
export { runWait } from "./run.ts";
export { DEFAULTS, type Shutdown, type WaitOptions } from "./options.ts";
export { logVoice, type LogVoiceOptions, pilotAgentVoice, type Voice } from "./reporter.ts";
