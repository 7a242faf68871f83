/** Breakages that no command of the advice can heal here, and why. The others are healed by the first command. */
const KUBELET = "only a kubelet could make it well: what the advice shows is in logs and states of containers";
const NETWORK = "it is the network between API server and nodes";

/** By the name of the breakage. */
export const INCURABLE: Readonly<Record<string, string>> = {
  "no webhook, and nothing tells who installed it":
    "only istioctl or the operator that installed it knows its settings",
  "no pod that is ready": KUBELET,
  "the port is closed": KUBELET,
  "no answer, as behind a firewall": NETWORK,
  "no answer, hidden by failurePolicy Ignore": NETWORK,
  "a Deployment whose pods are refused": "the quota in the message does not exist",
  "an old node": "the kubelet's version is that of a machine",
};

/** What the first command may be for these: it looks. */
export const NO_CURE = /^(kubectl (get|describe|logs|version|mesh check|mesh webhook) ?|oc )/;
