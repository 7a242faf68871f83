import { type ErrorDetails, MeshError } from "../base/errors.ts";

/**
 * Says why a resource cannot be injected. `reason` is one of these IDs: `invalid-yaml`, `invalid-manifest`,
 * `invalid-annotation`, `invalid-result`, `no-containers`, `namespace-mismatch`, `template-failed`, `template-unknown`,
 * `list-item-failed`, `not-patchable`.
 */
export class InjectionError extends MeshError {
  constructor(readonly reason: string, message: string, details: ErrorDetails = {}) {
    super(message, details);
  }
}
