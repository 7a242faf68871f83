import { askGoProgram } from "../../support/programs/go_program.ts";

/** Go's result for a template: output or error. */
export interface GoAnswer {
  readonly out?: string;
  readonly error?: string;
}

/** Returns the answers to these requests, in order. */
export async function askGo(requests: readonly object[]): Promise<GoAnswer[]> {
  // Makes key identifiers as Go 1.25 and later do; the Go module sets version 1.24.
  const env = { TZ: "UTC", GODEBUG: "x509sha256skid=1" };
  return await askGoProgram("test/oracle/gotemplate", requests, (line): GoAnswer => JSON.parse(line), env);
}
