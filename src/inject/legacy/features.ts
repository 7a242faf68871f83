/** The minor version that added each feature, and the earlier behavior. Source: the injectors of Istio 1.0 to 1.8. */
const SINCE = {
  values: 2, // before: templates have no `.Values`
  typeMeta: 3, // before: templates have no `.TypeMeta`
  podAnnotations: 3, // before: `podRedirectAnnot` is not read
  tlsModeLabel: 4, // before: no labels
  sdsByPath: 5, // before: fsGroup 1337 only if the mesh mounts tokens too (`enableSdsTokenMount`)
  proxyConfigInPod: 6, // before: the annotation `proxy.istio.io/config` is not read
  revisionLabel: 6, // before: no label `istio.io/rev`
  agentProbers: 6, // before: the agent listens on the proxy's `--statusPort`
  hold: 7, // before: the proxy is always appended
  podAnnotationsOfCni: 8, // before: `podRedirectAnnot` is always written
  fsGroup: 8, // before: fsGroup 1337 only if the mesh has an SDS socket (`sdsUdsPath`)
  canonicalLabels: 8, // before: no labels `service.istio.io/canonical-...`
  prometheusMerge: 8, // before: metrics are not merged
  cluster: 8, // before: cluster and network come from the template
} as const;

type Feature = keyof typeof SINCE;

/** Whether the injector of release 1.`minor` has the feature. */
export function has(minor: number, feature: Feature): boolean {
  return minor >= SINCE[feature];
}
