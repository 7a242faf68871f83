/** Decides from Envoy's statistics whether Envoy is ready. Source: Istio's pilot/cmd/pilot-agent/status/ready. */

export type Stats = ReadonlyMap<string, number>;

/** Queries to Envoy's `/stats`, with their filters and timeouts. */
export const QUERIES = {
  updates: {
    filter: "^(cluster_manager\\.cds|listener_manager\\.lds)\\.(update_success|update_rejected)$",
    milliseconds: 1000,
  },
  state: { filter: "^(server\\.state|listener_manager\\.workers_started)", milliseconds: 3000 },
} as const;

/** Parses lines of the form `name: value`. Ignores values that are not numbers. */
export function parseStats(text: string): Stats {
  const lines = [...text.matchAll(/^([^:\r\n\u2028\u2029]+): *(\d+)[ \t\r]*$/gm)];
  return new Map(lines.map(([, name = "", value]) => [name, Number(value)]));
}

interface Updates {
  readonly accepted: number;
  readonly rejected: number;
}

/** Whether Envoy rejected listeners or clusters. */
export function isRejected(stats: Stats): boolean {
  return updatesOf(stats, "clusters").rejected > 0 || updatesOf(stats, "listeners").rejected > 0;
}

const NAMES = { clusters: "cluster_manager.cds", listeners: "listener_manager.lds" } as const;

function updatesOf(stats: Stats, kind: keyof typeof NAMES): Updates {
  const count = (event: string) => stats.get(`${NAMES[kind]}.update_${event}`) ?? 0;
  return { accepted: count("success"), rejected: count("rejected") };
}

/** Why Envoy has no configuration; `undefined` after the first clusters and listeners. */
export function configProblem(stats: Stats): string | undefined {
  const clusters = updatesOf(stats, "clusters");
  const listeners = updatesOf(stats, "listeners");
  if (clusters.accepted > 0 && listeners.accepted > 0) return undefined;
  const counts = `cds updates: ${countsText(clusters)}; lds updates: ${countsText(listeners)}`;
  return `${configState(stats, clusters.accepted + listeners.accepted)}: ${counts}`;
}

function configState(stats: Stats, accepted: number): string {
  if (accepted === 0) return "config not received from XDS server (is Istiod running?)";
  if (isRejected(stats)) return "config received from XDS server, but was rejected";
  return "config not fully received from XDS server";
}

function countsText({ accepted, rejected }: Updates): string {
  return `${accepted} successful, ${rejected} rejected`;
}

/** `envoy.admin.v3.ServerInfo.State`. */
const STATES = ["LIVE", "DRAINING", "PRE_INITIALIZING", "INITIALIZING"];

/** Why Envoy is not live; `undefined` if Envoy is live. */
export function serverProblem(stats: Stats): string | undefined {
  const state = stats.get("server.state");
  if (state === undefined) return "server.state is not yet updated";
  return state === 0 ? undefined : `server is not live, current state is: ${STATES[state] ?? "UNKNOWN"}`;
}

/** Why Envoy's workers have not started; `undefined` if they have started. */
export function workersProblem(stats: Stats): string | undefined {
  const started = stats.get("listener_manager.workers_started");
  if (started === undefined) return "listener_manager.workers_started is not yet updated";
  return started === 1 ? undefined : "workers have not yet started";
}
