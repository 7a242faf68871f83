/** Errors of the Container Network Interface (CNI specification 1.1.0, section 5, "Error"). */
import { MeshError } from "../../base/errors.ts";

/** Well-known codes, and this plugin's own from 100 on. */
export const CODE = {
  incompatibleVersion: 1,
  environment: 4,
  input: 5,
  notDecoded: 6,
  invalidConfiguration: 7,
  tryAgain: 11,
  /** The rules cannot be made. */
  failed: 100,
  /** CHECK: the pod has no rule of a capture. */
  noRules: 101,
  /** CHECK: the pod's rules differ from its settings. */
  otherRules: 102,
} as const;

/** A failed request: the container runtime shows message and hint in an event of the pod. */
export class CniError extends MeshError {
  constructor(readonly code: number, message: string, hint?: string) {
    super(message, { hint });
  }
}

/** The JSON form of an error. `version`: the CNI version of the request. */
export function failureJson(error: MeshError, version: string): string {
  const code = error instanceof CniError ? error.code : CODE.failed;
  const details = [error.hint ?? [], error.rest].flat().join("; ");
  return `${JSON.stringify({ cniVersion: version, code, msg: error.message, ...details === "" ? {} : { details } })}\n`;
}
