/** Breakages that no command of the advice can heal, and why. */
const CONTROL_PLANE = "the control plane must be installed again";
const RESTART = "the restarted control plane heals it, and there is neither controller nor kubelet";
const TEXT = "somebody must correct the text in an editor";
const MANIFEST = "the manifest of the application must change";
const OTHERS = "the webhook or policy of another program must change";
const NODES = "it is about nodes, networks or kubelets";

/** By the name of the breakage. */
export const INCURABLE: Readonly<Record<string, string>> = {
  "the ConfigMap of the control plane is gone": CONTROL_PLANE,
  "values that are no YAML": TEXT,
  "a template that does not compile": TEXT,
  "a mesh configuration of another type": TEXT,
  "the policy is disabled": TEXT,
  "no webhook": CONTROL_PLANE,
  "selectors that select nobody": CONTROL_PLANE,
  "no Service": CONTROL_PLANE,
  "no pod that is ready": NODES,
  "a caBundle that has expired": RESTART,
  "a caBundle near its end": RESTART,
  "a caBundle of another authority": RESTART,
  "a Secret of another authority": RESTART,
  "a Secret with an expired certificate": RESTART,
  "an expired certificate is served": RESTART,
  "a certificate for another name is served": RESTART,
  "a certificate of another authority is served": RESTART,
  "the port is closed": NODES,
  "no answer, as behind a firewall": NODES,
  "no answer, hidden by failurePolicy Ignore": NODES,
  "a match condition that fails, hidden by failurePolicy Ignore": TEXT,
  "a later webhook that drops restartPolicy": OTHERS,
  "Argo CD sets the caBundle": OTHERS,
  "no pull secret": "nobody else knows the credentials of the registry",
  "no root certificate": "istiod writes it",
  "the sidecar of another mesh": OTHERS,
  "a Deployment whose pods are refused": "the quota in the message does not exist",
  "a Windows pod": "it would leave the mesh, which is for the user to decide",
  "an init container between the capture and the proxy": MANIFEST,
  "a Job whose proxy goes on": MANIFEST,
  "an application as the proxy's user": MANIFEST,
  "an application at the proxy's port": MANIFEST,
  "a user outside OpenShift's range": "the command is OpenShift's",
  "a policy against what injection adds": OTHERS,
  "values that make an invalid pod": TEXT,
  "an old node": NODES,
  "no node for a pod": NODES,
  "an image that cannot be pulled": NODES,
  "an init container that failed": NODES,
  "a proxy that is not ready": NODES,
  "a proxy that was killed for its memory": MANIFEST,
  "a proxy that was started again": NODES,
};

/** What the first command may be for these: it looks, opens an editor, or restarts what is not there. */
export const NO_CURE = /^(kubectl (get|describe|logs|edit|version|rollout restart|mesh check|mesh webhook) ?|oc )/;
