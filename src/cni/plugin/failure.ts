/** Formats errors of the Container Network Interface (CNI specification 1.1.0, section 5, "Error"). */
import { MeshError } from "../../base/errors.ts";

/** Well-known error codes, and codes of this plugin, which start at 100. */
export const CODE = {
  incompatibleVersion: 1,
  environment: 4,
  input: 5,
  notDecoded: 6,
  invalidConfiguration: 7,
  tryAgain: 11,
  /** Applying the rules failed. */
  failed: 100,
  /** CHECK: the pod has no rules that capture traffic. */
  noRules: 101,
  /** CHECK: the pod's rules differ from its settings. */
  otherRules: 102,
} as const;

/** A failed request. The container runtime shows the message and the hint in an event of the pod. */
export class CniError extends MeshError {
  constructor(readonly code: number, message: string, hint?: string) {
    super(message, { hint });
  }
}

/** Formats an error as JSON. `version`: the CNI version of the request. */
export function failureJson(error: MeshError, version: string): string {
  const code = error instanceof CniError ? error.code : CODE.failed;
  const details = [error.hint ?? [], error.rest].flat().join("; ");
  return `${JSON.stringify({ cniVersion: version, code, msg: error.message, ...details === "" ? {} : { details } })}\n`;
}
