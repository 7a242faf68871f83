/** Rules about the whole pod: whether it terminates, its node's operating system, DNS, and security policies. */
import { isMap, listAt, mapAt, mapsAt, textAt, textsAt, type Value } from "../../base/value.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { endsByItself } from "../pod/kinds.ts";
import { allContainers, type Pod, specOf } from "../pod/pod.ts";
import { violationsOf } from "./pod_security.ts";
import { hasSidecar, isNative, podField, type PodRule } from "./rule.ts";

export const POD_RULES: readonly PodRule[] = [
  {
    id: "job-sidecar",
    severity: "error",
    title: "A Job never completes, because its sidecar is not native and keeps running after the work is done",
    on: "injected",
    problems(subject) {
      if (
        !hasSidecar(subject) || isNative(subject) || !endsByItself(subject.kind, subject.pod) || endsProxy(subject.pod)
      ) return [];
      return [{
        field: podField(subject, "spec"),
        message: `The ${subject.kind} never completes, because its sidecar keeps running after the work is done`,
        fix: `use a native sidecar (--native-sidecars=jobs, or the annotation "${ANNOTATION.nativeSidecar}: true"; ` +
          'Kubernetes 1.29 and later), or run the work with "kubectl-mesh wait --shutdown"',
      }];
    },
  },
  {
    id: "windows-node",
    severity: "error",
    title: "The pod runs on Windows nodes, where the sidecar cannot run",
    on: "injected",
    problems(subject) {
      const field = windowsField(subject.pod);
      return field === undefined ? [] : [{
        field: podField(subject, field),
        message: "The pod runs on Windows nodes, where the sidecar cannot run",
        fix: 'opt out with the label "sidecar.istio.io/inject: false"',
      }];
    },
  },
  {
    id: "fs-group-replaced",
    severity: "warning",
    title: "The configuration replaces the pod's own fsGroup, as in Istio 1.4 to 1.8",
    on: "injected",
    problems(subject) {
      const [before, after] = [subject.pod, subject.injected ?? {}].map((pod) =>
        String(mapAt(specOf(pod), "securityContext")["fsGroup"] ?? "")
      );
      if (before === "" || before === after) return [];
      return [{
        field: podField(subject, "spec.securityContext.fsGroup"),
        message: `Injection replaces the pod's fsGroup ${before} with ${after}, which changes the group of its volumes`,
        fix: "set ENABLE_LEGACY_FSGROUP_INJECTION=false if the proxy can read its token without fsGroup",
      }];
    },
  },
  {
    id: "dns-policy",
    severity: "warning",
    title: "The pod's DNS policy keeps the proxy from resolving cluster names",
    on: "injected",
    problems(subject) {
      const policy = textAt(specOf(subject.pod), "dnsPolicy");
      if (policy === "" || CLUSTER_DNS.includes(policy)) return [];
      return [{
        field: podField(subject, "spec.dnsPolicy"),
        message: `The pod's DNS policy is "${policy}", not "ClusterFirst", ` +
          "so the proxy may fail to resolve the name of the control plane",
        fix: 'use "ClusterFirst"',
      }];
    },
  },
  {
    id: "pod-security",
    severity: "note",
    title: "The pod meets a Pod Security level, but the injected pod does not",
    on: "injected",
    problems(subject) {
      const { pod, injected } = subject;
      if (injected === undefined || !mayMeetRestricted(pod) || violationsOf(pod, "restricted").length > 0) return [];
      const broken = violationsOf(injected, "restricted");
      return broken.length === 0 ? [] : [{
        field: podField(subject, "spec"),
        message: `The pod meets the Pod Security level "restricted", but not with its sidecar: ${broken.join("; ")}`,
        fix: "inject with --fit restricted, in a cluster with Istio's CNI plugin",
      }];
    },
  },
];

/** Policies that resolve cluster names. The second one differs only on the host network, where pods are not injected. */
const CLUSTER_DNS = ["ClusterFirst", "ClusterFirstWithHostNet"];

/** Whether a container stops the proxy itself, with the agent's `/quitquitquit` or with `wait --shutdown`. */
function endsProxy(pod: Pod): boolean {
  const said = allContainers(pod).flatMap((each) => [...textsAt(each, "command"), ...textsAt(each, "args")]).join(" ");
  const wait = said.search(/\bwait\b/);
  return said.includes("quitquitquit") || (wait >= 0 && said.includes("--shutdown", wait));
}

/** Checks only one condition of the level `restricted`. The check is cheap, and most pods fail it. */
function mayMeetRestricted(pod: Pod): boolean {
  return allContainers(pod).every((each) => mapAt(each, "securityContext")["allowPrivilegeEscalation"] === false);
}

const OS_LABELS = ["kubernetes.io/os", "beta.kubernetes.io/os"];

function windowsField(pod: Pod): string | undefined {
  const spec = specOf(pod);
  if (textAt(mapAt(spec, "os"), "name") === "windows") return "spec.os.name";
  const label = OS_LABELS.find((key) => mapAt(spec, "nodeSelector")[key] === "windows");
  if (label !== undefined) return `spec.nodeSelector["${label}"]`;
  const affinity = mapAt(mapAt(spec, "affinity"), "nodeAffinity");
  const terms = mapsAt(mapAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
  const isWindows = terms.length > 0 && terms.every((term) => mapsAt(term, "matchExpressions").some(selectsWindows));
  return isWindows ? "spec.affinity.nodeAffinity" : undefined;
}

function selectsWindows(expression: Value): boolean {
  if (!isMap(expression)) return false;
  const values = listAt(expression, "values");
  return OS_LABELS.includes(textAt(expression, "key")) && expression["operator"] === "In" && values.length > 0 &&
    values.every((value) => value === "windows");
}
