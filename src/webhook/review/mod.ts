/**
 * Reviews of the API server. In: the bytes of an AdmissionReview, and what the answer depends on (`ReviewContext`). Out:
 * the bytes' answer as text and what was decided, with a stable reason for logs and metrics (`reviewPod`).
 */
export type { ReviewContext } from "./context.ts";
export { isOpenShift, userAnnotations } from "./openshift.ts";
export { ProxyConfigs } from "./proxy_configs.ts";
export { type Answered, lostReview, type Reviewed, reviewPod, type ReviewResult } from "./review_pod.ts";
