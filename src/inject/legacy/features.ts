/**
 * Differences between the releases 1.0 to 1.8. Source: the injectors of the releases.
 *
 * | feature              | since | before                                                                            |
 * |----------------------|-------|-----------------------------------------------------------------------------------|
 * | values               | 1.2   | templates have no `.Values`                                                       |
 * | typeMeta             | 1.3   | templates have no `.TypeMeta`                                                     |
 * | podAnnotations       | 1.3   | `podRedirectAnnot` is not read                                                    |
 * | tlsModeLabel         | 1.4   | no labels                                                                         |
 * | sdsByPath            | 1.5   | fsGroup 1337 only if the mesh mounts tokens too (`enableSdsTokenMount`)           |
 * | proxyConfigInPod     | 1.6   | the annotation `proxy.istio.io/config` is not read                                |
 * | revisionLabel        | 1.6   | no label `istio.io/rev`                                                           |
 * | agentProbers         | 1.6   | the agent gets bare `httpGet` objects and listens on the proxy's `--statusPort`    |
 * | startupProbes        | 1.7   | only readiness and liveness probes are rewritten                                  |
 * | hold                 | 1.7   | the proxy is always appended                                                      |
 * | podAnnotationsOfCni  | 1.8   | `podRedirectAnnot` is always written                                              |
 * | fsGroup              | 1.8   | fsGroup 1337 only if the mesh has an SDS socket (`sdsUdsPath`)                    |
 * | canonicalLabels      | 1.8   | no labels `service.istio.io/canonical-...`                                        |
 * | prometheusMerge      | 1.8   | metrics are not merged                                                            |
 * | cluster              | 1.8   | cluster and network come from the template                                        |
 */
const SINCE = {
  values: 2,
  typeMeta: 3,
  podAnnotations: 3,
  tlsModeLabel: 4,
  sdsByPath: 5,
  proxyConfigInPod: 6,
  revisionLabel: 6,
  agentProbers: 6,
  startupProbes: 7,
  hold: 7,
  podAnnotationsOfCni: 8,
  fsGroup: 8,
  canonicalLabels: 8,
  prometheusMerge: 8,
  cluster: 8,
} as const;

/** A behaviour since some release. */
type Feature = keyof typeof SINCE;

/** Whether the injector of release 1.`minor` has the feature. */
export function has(minor: number, feature: Feature): boolean {
  return minor >= SINCE[feature];
}
