import { askGoProgram } from "../../support/programs/go_program.ts";

/** Go's result of a template: output or error. */
export interface GoAnswer {
  readonly out?: string;
  readonly error?: string;
}

/** The answers to these requests, in order. */
export async function askGo(requests: readonly object[]): Promise<GoAnswer[]> {
  // Key identifiers as Go makes them since 1.25; the module there says 1.24.
  const env = { TZ: "UTC", GODEBUG: "x509sha256skid=1" };
  return await askGoProgram("test/oracle/gotemplate", requests, (line): GoAnswer => JSON.parse(line), env);
}
