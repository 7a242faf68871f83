/** What is behind the words of the API server when it could not call a webhook. */

/** A failure that is recognised. */
interface Failure {
  readonly pattern: RegExp;
  /** What it means, and what to do; `port` is that of the pods: `port 15017`. */
  readonly advice: (port: string) => string;
}

/** Nobody answers. The URL of each call has a `timeout` too. */
export const NO_ANSWER =
  /deadline exceeded|(i\/o|handshake) timeout|Client\.Timeout|timed out|did not complete within/i;

/** Sources: Go's net and crypto/x509, apiserver/pkg/util/webhook; Istio's and GKE's pages on private clusters. */
const FAILURES: readonly Failure[] = [
  {
    pattern: NO_ANSWER,
    advice: (port) =>
      `no answer in time: on a private cluster a firewall may keep the control plane from the pods. Let it reach ` +
      `${port} of the nodes and pods by TCP: a firewall rule for GKE's master range, the node security group on EKS`,
  },
  {
    pattern: /connection refused/,
    advice: (port) => `nothing listens at ${port}: look at the logs of its pods`,
  },
  {
    pattern: /no endpoints available|no service port|service ".*" not found/,
    advice: () => "the Service that the configuration names is not there, or has no pod that is ready",
  },
  {
    pattern: /x509: .*expired|not yet valid/,
    advice: () =>
      "the certificate that the webhook serves is not valid at this time: look at its logs and at the clocks",
  },
  {
    pattern: /x509: certificate signed by unknown authority/,
    advice: () => "the caBundle of the configuration did not sign what the webhook serves: start the webhook again",
  },
  {
    pattern: /x509:/,
    advice: () => "the certificate that the webhook serves is not for the name of its Service",
  },
  {
    pattern: /Address is not allowed|no route to host|network is unreachable/,
    advice: () =>
      "the control plane cannot reach addresses of pods, as on EKS with another CNI: run the webhook with hostNetwork",
  },
  {
    pattern: /could not find the requested resource|404|page not found/,
    advice: () => "what answers is no injector at that path: compare clientConfig.service.path",
  },
];

/** The advice for a failure; a general one if it is not known. */
export function adviceFor(message: string, port: number | undefined): string {
  const known = FAILURES.find(({ pattern }) => pattern.test(message));
  return known?.advice(port === undefined ? "the port" : `port ${port}`) ?? "look at the logs of the webhook";
}
