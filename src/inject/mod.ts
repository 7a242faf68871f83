/**
 * Sidecar injection. `loadInjector` loads the injector configuration, values and mesh configuration. `changeStream` with
 * `injection` or `uninjection` changes manifests from byte streams; `injectPod` changes one pod. All other text stays
 * unchanged. Each resource gets a report entry with the result and the reason (`entryLines`, `entryJson`).
 */
export {
  absent,
  type ClusterChoice,
  type ClusterConfiguration,
  clusterConfiguration,
  type ClusterNames,
  clusterNames,
  configurationIn,
  ownConfigMap,
  ownConfiguration,
  type RevisionConfiguration,
  revisionConfiguration,
} from "./config/cluster.ts";
export {
  type InjectionSnapshot,
  revisionsIn,
  snapshotIn,
  type SnapshotPlane,
  snapshotText,
  type Unreadable,
} from "./config/snapshot.ts";
export { BUILT_IN } from "./default/mod.ts";
export * from "./decision/decision.ts";
export {
  type Change,
  changeObject,
  type DocumentOptions,
  type ListedObject,
  misreadText,
} from "./document/document.ts";
export { injection, injectionBy, type Judgment } from "./inject_document.ts";
export { type ReadWorkload, readWorkload } from "./read_workload.ts";
export { fieldIn, withoutTemplate } from "./document/pod_row.ts";
export { InjectionError } from "./injection_error.ts";
export { isOpenShift, proxyIds } from "./config/openshift.ts";
export type { Source } from "./config/config.ts";
export { type Injector, loadInjector, newInjector } from "./injector.ts";
export type { TemplateEnv } from "./config/template_env.ts";
export {
  kubeletMinor,
  kubeletVersion,
  nativeByNodes,
  type NativeChoice,
  nativeChoice,
  nativeForPod,
  type NativeNodes,
  nativeNodes,
  type NativeOption,
  type NativeSetting,
  nativeSetting,
} from "./decision/native.ts";
export { injectInTurn, injectPod } from "./inject_pod.ts";
export {
  containersOfProxyUser,
  initContainersWithoutNetwork,
  otherMeshSidecars,
  portConflicts,
  PROXY_UID,
} from "./pod/conflicts.ts";
export { mapProxy, withKey } from "./pod/change.ts";
export {
  allContainers,
  annotationsOf,
  containersOf,
  findProxy,
  labelsOf,
  metadataOf,
  type Pod,
  PROXY,
  specOf,
} from "./pod/pod.ts";
export { Baseline } from "./document/baseline.ts";
export { type FileWarning, fileWarningText } from "./config/unknown_keys.ts";
export { Sarif } from "./document/sarif.ts";
export { changeStream, type ManifestInput, type Sink, type Summary } from "./document/stream.ts";
export {
  type Configuration,
  configurationOf,
  describeConfiguration,
  type GivenConfiguration,
  showConfiguration,
} from "./config/sources.ts";
export { unknownKeys } from "./config/unknown_keys.ts";
export * from "./document/report.ts";
export { type Finding, findingText, type Severity } from "./rules/rule.ts";
export * from "./rules/rules.ts";
export { InputFacts } from "./rules/input_rules.ts";
export { type Level, violationsOf } from "./rules/pod_security.ts";
export { BUILT_IN_KINDS, templatePath, type WorkloadKind, workloadKind, workloadKinds } from "./pod/kinds.ts";
export { type InjectionStatus, readStatus } from "./pod/status.ts";
export { type Owner, ownerOf, podIn, podOwner } from "./pod/workload.ts";
export { urlSettings } from "./config/url_settings.ts";
export { uninjection } from "./undo/uninject.ts";
