/** Explains the API server's errors about webhooks that it could not call, and what to do about them. */
import { type Advice, byHand, harmless } from "../../advice/advice.ts";
import type { InjectorWebhook } from "../../inventory/injector_webhooks.ts";
import { entriesPatched, logged, restarted } from "./webhook_advice.ts";

/** What the API server calls. */
export interface Callee {
  /** The pods' port. */
  readonly port: number | undefined;
  readonly clusterIP: string | undefined;
  readonly webhooks: readonly InjectorWebhook[];
  /** Advice for a port on which nothing listens. */
  readonly opening: readonly Advice[];
}

interface Failure {
  readonly pattern: RegExp;
  /** Only for calls of the Service's own address. */
  readonly ofClusterIP?: true;
  /** The meaning; `port` is the pods' port: `port 15017`. */
  readonly meaning: (port: string) => string;
  readonly advice: (webhook: InjectorWebhook, port: string, callee: Callee) => readonly Advice[];
}

/** No answer in time. The URL of each call contains the word `timeout` too. */
export const NO_ANSWER =
  /deadline exceeded|(i\/o|handshake) timeout|Client\.Timeout|timed out|did not complete within/i;

/** Sources: Go's net and crypto/x509, apiserver/pkg/util/webhook; Istio's and GKE's pages on private clusters. */
const FAILURES: readonly Failure[] = [
  {
    pattern: NO_ANSWER,
    meaning: () => "no answer in time: on a private cluster a firewall may block the control plane",
    advice: (_webhook, port) => [
      byHand(
        `allow TCP to ${port} of nodes and pods: a firewall rule for GKE's master range, the node security group on EKS`,
      ),
    ],
  },
  {
    pattern: /connection refused/,
    meaning: (port) => `nothing listens on ${port}`,
    advice: ({ target }, _port, { opening }) => [...logged(target), ...opening],
  },
  {
    pattern: /no endpoints available|no service port|service "[^"\n]*" not found/,
    meaning: () => "the Service of the configuration does not exist, or has no ready pod",
    advice: ({ target }) => logged(target),
  },
  {
    pattern: /unable to load root certificates|unable to parse bytes as PEM/,
    meaning: () => "the caBundle of the configuration is no certificate in PEM: the webhook writes it",
    advice: ({ target }) => restarted(target),
  },
  {
    pattern: /certificate has expired|not yet valid/,
    meaning: () => "the webhook's certificate is not valid now",
    advice: ({ target }) => [...restarted(target), byHand("correct the clocks of the nodes")],
  },
  {
    pattern: /x509: certificate signed by unknown authority/,
    meaning: () => "the caBundle of the configuration did not sign the webhook's certificate",
    advice: ({ target }) => restarted(target),
  },
  {
    // Go's x509.HostnameError.
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
      byHand("run kube-proxy or its replacement on its node"),
      byHand("set --enable-aggregator-routing=true of kube-apiserver"),
    ],
  },
  {
    pattern: /Address is not allowed|no route to host|network is unreachable/,
    meaning: () => "the control plane cannot reach pod addresses, as on EKS with a custom CNI",
    advice: () => [byHand("run the webhook with hostNetwork", "mesh")],
  },
  {
    pattern: /could not find the requested resource|404|page not found/,
    meaning: () => "no injector serves that path: clientConfig.service.path",
    advice: ({ configuration, target }, _port, { webhooks }) => {
      if ("url" in target) return [byHand('end the URL with "/inject"', "webhook")];
      const service = { namespace: target.namespace, name: target.name, path: "/inject" };
      const own = webhooks.filter((each) => each.configuration === configuration);
      const entries = own.map(({ name }) => ({ name, clientConfig: { service } }));
      return [harmless("call the path of injectors", "webhook", entriesPatched(configuration, entries))];
    },
  },
];

/** What a failure means, and what to do; for an unknown one only the log. */
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
