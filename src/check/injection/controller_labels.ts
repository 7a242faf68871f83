/**
 * Labels that controllers add to pods. Source: k8s.io/kubernetes/pkg/controller (deployment/util, statefulset, daemon,
 * job); OpenShift's DeploymentConfig.
 */
import { mapAt, newMap, type ValueMap } from "../../base/value.ts";
import { labelsOf, metadataOf, type Pod, withKey } from "../../inject/mod.ts";

/** Placeholders for values that are generated when the controller creates its objects. */
const SOME_UID = "00000000-0000-0000-0000-000000000000";
const SOME_HASH = "0000000000";

type Labels = (name: string, spec: ValueMap) => Readonly<Record<string, string>>;

const ofJob: Labels = (name, spec) => ({
  "batch.kubernetes.io/controller-uid": SOME_UID,
  "batch.kubernetes.io/job-name": name,
  "controller-uid": SOME_UID,
  "job-name": name,
  ...spec["completionMode"] === "Indexed" ? { "batch.kubernetes.io/job-completion-index": "0" } : {},
});

/** Placeholder for the suffix of a CronJob's Job: its start time in minutes since the epoch. */
const SOME_RUN = "00000000";

const LABELS: Readonly<Record<string, Labels>> = {
  Deployment: () => ({ "pod-template-hash": SOME_HASH }),
  StatefulSet: (name) => ({
    "apps.kubernetes.io/pod-index": "0",
    "controller-revision-hash": `${name}-${SOME_HASH}`,
    "statefulset.kubernetes.io/pod-name": `${name}-0`,
  }),
  DaemonSet: () => ({ "controller-revision-hash": SOME_HASH, "pod-template-generation": "1" }),
  Job: ofJob,
  CronJob: (name, spec) => ofJob(`${name}-${SOME_RUN}`, mapAt(mapAt(spec, "jobTemplate"), "spec")),
  DeploymentConfig: (name) => ({ deployment: `${name}-1`, deploymentconfig: name }),
};

/** Adds to a template's pod the labels that its controller would add. Labels of the template take precedence. */
export function withControllerLabels(pod: Pod, kind: string, name: string, manifest: ValueMap): Pod {
  const added = LABELS[kind]?.(name, mapAt(manifest, "spec"));
  if (added === undefined) return pod;
  const labels = Object.assign(newMap(), added, labelsOf(pod));
  return withKey(pod, "metadata", withKey(metadataOf(pod), "labels", labels));
}
