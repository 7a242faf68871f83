/** Explains the API server's errors about webhooks that it could not call. */

/** What the API server calls. */
export interface Callee {
  /** The pods' port. */
  readonly port: number | undefined;
  /** The address of the Service. */
  readonly clusterIP: string | undefined;
}

/** A known failure. */
interface Failure {
  readonly pattern: RegExp;
  /** Only for calls of the Service's own address. */
  readonly ofClusterIP?: true;
  /** Meaning and fix; `port` is the pods' port: `port 15017`. */
  readonly advice: (port: string) => string;
}

/** No answer in time. The URL of each call contains the word `timeout` too. */
export const NO_ANSWER =
  /deadline exceeded|(i\/o|handshake) timeout|Client\.Timeout|timed out|did not complete within/i;

/** Sources: Go's net and crypto/x509, apiserver/pkg/util/webhook; Istio's and GKE's pages on private clusters. */
const FAILURES: readonly Failure[] = [
  {
    pattern: NO_ANSWER,
    advice: (port) =>
      `no answer in time: on a private cluster a firewall may block the control plane. Allow TCP to ` +
      `${port} of nodes and pods: a firewall rule for GKE's master range, the node security group on EKS`,
  },
  {
    pattern: /connection refused/,
    advice: (port) => `nothing listens on ${port}: check the logs of its pods`,
  },
  {
    pattern: /no endpoints available|no service port|service ".*" not found/,
    advice: () => "the Service of the configuration does not exist, or has no ready pod",
  },
  {
    pattern: /x509: .*expired|not yet valid/,
    advice: () => "the webhook's certificate is not valid now: check its logs and the clocks",
  },
  {
    pattern: /x509: certificate signed by unknown authority/,
    advice: () => "the caBundle of the configuration did not sign the webhook's certificate: restart the webhook",
  },
  {
    pattern: /x509:/,
    advice: () => "the webhook's certificate does not name its Service",
  },
  {
    pattern: /unable to load root certificates|unable to parse bytes as PEM/,
    advice: () => "the caBundle of the configuration is no certificate in PEM: restart the webhook, which writes it",
  },
  {
    pattern: /no route to host|network is unreachable/,
    ofClusterIP: true,
    advice: () =>
      "the API server has no route to Services: run kube-proxy or its replacement on its node, or set " +
      "--enable-aggregator-routing=true of kube-apiserver",
  },
  {
    pattern: /Address is not allowed|no route to host|network is unreachable/,
    advice: () =>
      "the control plane cannot reach pod addresses, as on EKS with a custom CNI: run the webhook with hostNetwork",
  },
  {
    pattern: /could not find the requested resource|404|page not found/,
    advice: () => "no injector serves that path: check clientConfig.service.path",
  },
];

/** The advice for a failure; a general one for an unknown failure. */
export function adviceFor(message: string, { port, clusterIP }: Callee): string {
  const isOfService = clusterIP !== undefined && clusterIP !== "" && message.includes(`dial tcp ${clusterIP}:`);
  const known = FAILURES.find(({ pattern, ofClusterIP }) => pattern.test(message) && (!ofClusterIP || isOfService));
  return known?.advice(port === undefined ? "the port" : `port ${port}`) ?? "check the logs of the webhook";
}
