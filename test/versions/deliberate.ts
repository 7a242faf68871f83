/** Where this program differs from Istio's own results on purpose: docs/inject.md says the same for users. */

interface Deliberate {
  /** The names of the expected files. */
  readonly want: RegExp;
  /** The difference, as `differenceOf` has it. */
  readonly difference: RegExp;
  readonly reason: string;
}

const DELIBERATE: readonly Deliberate[] = [
  {
    want: /^cronjob/,
    difference: /jobTemplate\.(?:spec\.template\.)?metadata/,
    reason: "labels and annotations go to the CronJob's pod, not to its Job",
  },
  {
    want: /^merge-probers/,
    difference: /initContainers\.\d+\.args\.\d+: nothing instead of "--concurrency"/,
    reason: "a proxy of an earlier injection gets the arguments of the template",
  },
  {
    want: /^sidecar-spire/,
    difference: /a second injection/,
    reason: "Istio's result has two containers of one name, which Kubernetes refuses",
  },
  {
    want: /^hello-openshift-tproxy/,
    difference: /nothing instead of "istio-ca-crl"/,
    reason: "the expected file of 1.25 and 1.26 has a volume that their templates do not have",
  },
];

/** Why a difference is one on purpose; `undefined` if it is not. */
export function reasonFor(want: string, difference: string): string | undefined {
  return DELIBERATE.find((each) => each.want.test(want) && each.difference.test(difference))?.reason;
}
