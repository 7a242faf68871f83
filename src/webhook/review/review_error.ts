import { type ErrorDetails, MeshError } from "../../core/errors.ts";

/**
 * Why a review could not be read. Reasons, as metrics and logs have them: `invalid-review`, `too-large`,
 * `invalid-manifest`.
 */
export class ReviewError extends MeshError {
  constructor(readonly reason: string, message: string, details: ErrorDetails = {}) {
    super(message, details);
  }
}
