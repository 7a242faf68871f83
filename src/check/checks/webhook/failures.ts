/** Explains the API server's errors when it cannot call a webhook, and adds advice. */
import { type Advice, byHand, harmless } from "../../advice/advice.ts";
import type { InjectorWebhook } from "../../inventory/injector_webhooks.ts";
import { entriesPatched, logged, restarted } from "./webhook_advice.ts";

/** The target of the API server's calls. */
export interface Callee {
  /** The port of the pods behind the Service; `undefined` if unknown. */
  readonly port: number | undefined;
  readonly clusterIP: string | undefined;
  readonly webhooks: readonly InjectorWebhook[];
  /** Advice for the failure "connection refused". */
  readonly opening: readonly Advice[];
}

interface Failure {
  readonly pattern: RegExp;
  /** Applies only to calls to the cluster IP of the Service. */
  readonly ofClusterIP?: true;
  /** Explains the failure. `port` is the text for the pods' port, such as `port 15017`. */
  readonly meaning: (port: string) => string;
  readonly advice: (webhook: InjectorWebhook, port: string, callee: Callee) => readonly Advice[];
}

/** Does not match the word `timeout` alone, because the URL of each call contains `timeout=`. */
export const NO_ANSWER =
  /deadline exceeded|(i\/o|handshake) timeout|Client\.Timeout|timed out|did not complete within/i;

/** The first match counts. Sources: Go's net and crypto/x509, apiserver/pkg/util/webhook, Istio, GKE. */
const FAILURES: readonly Failure[] = [
  {
    pattern: NO_ANSWER,
    meaning: () => "no response in time: on a private cluster, a firewall may block the control plane",
    advice: (_webhook, port) => [
      byHand(
        `allow TCP to ${port} of nodes and pods: on GKE with a firewall rule for the master range, on EKS in the node security group`,
      ),
    ],
  },
  {
    pattern: /connection refused/,
    meaning: (port) => `no process listens on ${port}`,
    advice: ({ target }, _port, { opening }) => [...logged(target), ...opening],
  },
  {
    pattern: /no endpoints available|no service port|service "[^"\n]*" not found/,
    meaning: () => "the Service of the configuration does not exist, or has no ready pod",
    advice: ({ target }) => logged(target),
  },
  {
    pattern: /unable to load root certificates|unable to parse bytes as PEM/,
    meaning: () => "the caBundle of the configuration is not a PEM certificate; the webhook rewrites it when it starts",
    advice: ({ target }) => restarted(target),
  },
  {
    pattern: /certificate has expired|not yet valid/,
    meaning: () => "the webhook's certificate has expired or is not yet valid",
    advice: ({ target }) => [...restarted(target), byHand("correct the clocks of the nodes")],
  },
  {
    pattern: /x509: certificate signed by unknown authority/,
    meaning: () => "no certificate in the caBundle signed the webhook's certificate",
    advice: ({ target }) => restarted(target),
  },
  {
    // The messages of Go's x509.HostnameError.
    pattern: /x509: (certificate is (valid for|not valid for any)|cannot validate|certificate relies on legacy)/,
    meaning: () => "the webhook's certificate does not name its Service",
    advice: ({ target }) => restarted(target),
  },
  {
    pattern: /x509:/,
    meaning: () => "the API server does not accept the webhook's certificate",
    advice: ({ target }) => restarted(target),
  },
  {
    pattern: /no route to host|network is unreachable/,
    ofClusterIP: true,
    meaning: () => "the API server has no route to Services",
    advice: () => [
      byHand("run kube-proxy, or a replacement, on the node of the API server"),
      byHand("set --enable-aggregator-routing=true in the flags of kube-apiserver"),
    ],
  },
  {
    pattern: /Address is not allowed|no route to host|network is unreachable/,
    meaning: () => "the control plane cannot reach pod addresses, as on EKS with a custom CNI",
    advice: () => [byHand("run the webhook with hostNetwork", "mesh")],
  },
  {
    pattern: /could not find the requested resource|404|page not found/,
    meaning: () => "the injector does not serve the path in clientConfig.service.path",
    advice: ({ configuration, target }, _port, { webhooks }) => {
      if ("url" in target) return [byHand('end the URL with "/inject"', "webhook")];
      const service = { namespace: target.namespace, name: target.name, path: "/inject" };
      const own = webhooks.filter((each) => each.configuration === configuration);
      const entries = own.map(({ name }) => ({ name, clientConfig: { service } }));
      return [harmless("call the path /inject", "webhook", entriesPatched(configuration, entries))];
    },
  },
];

/** Returns the meaning of a failure, with advice. For an unknown failure, the advice is to read the log. */
export function explained(
  message: string,
  webhook: InjectorWebhook,
  callee: Callee,
): { readonly meaning: string; readonly advice: readonly Advice[] } {
  const { port, clusterIP } = callee;
  const isOfService = clusterIP !== undefined && clusterIP !== "" && message.includes(`dial tcp ${clusterIP}:`);
  const known = FAILURES.find(({ pattern, ofClusterIP }) => pattern.test(message) && (!ofClusterIP || isOfService));
  const text = port === undefined ? "the port" : `port ${port}`;
  if (known === undefined) return { meaning: "", advice: logged(webhook.target) };
  return { meaning: known.meaning(text), advice: known.advice(webhook, text, callee) };
}
