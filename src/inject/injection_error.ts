import { type ErrorDetails, MeshError } from "../core/errors.ts";

/**
 * Why something could not be injected. Reasons, as reports have them: `invalid-yaml`, `invalid-manifest`,
 * `invalid-annotation`, `invalid-result`, `no-containers`, `namespace-mismatch`, `template-failed`, `template-unknown`,
 * `list-item-failed`.
 */
export class InjectionError extends MeshError {
  constructor(readonly reason: string, message: string, details: ErrorDetails = {}) {
    super(message, details);
  }
}
