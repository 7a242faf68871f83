/** The answer to a review. */

/** The result of a review. */
export type ReviewResult = "injected" | "skipped" | "unchanged" | "failed";

/** The answer to a review, with the data for logs and metrics. */
export interface Answered {
  /** The AdmissionReview to send: text, or UTF-8 from a worker. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly result: ReviewResult;
  /**
   * A stable id: one of `inject`; skipped reviews also have `other-kind`, `other-operation` or `other-subresource`, failed
   * ones `invalid-review`, `too-large` or `internal-error`.
   */
  readonly reason: string;
  /** For the user who creates the pod. After a failure it may quote the pod, so it is logged only at debug. */
  readonly message: string;
  readonly warnings: readonly string[];
  readonly uid: string;
  readonly namespace: string;
  /** The pod's name, or its generateName. */
  readonly name: string;
  readonly dryRun: boolean;
  /** The stack of an `internal-error`, without data of the pod. */
  readonly defect?: string;
}

/** An answer of this process. */
export interface Reviewed extends Answered {
  readonly body: string;
}
