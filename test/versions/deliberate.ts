/** Deliberate differences of this program from Istio's own results. docs/inject.md explains them to users. */

interface Deliberate {
  /** Matches the name of the expected file. */
  readonly want: RegExp;
  /** Matches the result of `differenceOf`. */
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

/** The reason for a deliberate difference; `undefined` for any other difference. */
export function reasonFor(want: string, difference: string): string | undefined {
  return DELIBERATE.find((each) => each.want.test(want) && each.difference.test(difference))?.reason;
}
