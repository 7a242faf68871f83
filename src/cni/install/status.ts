/** Serves readiness and metrics of the installer, with the paths, ports and names of istio-cni. */
import { expositionOf, type Meter, meter } from "../../base/metrics/mod.ts";
import type { Logger } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { type ListenAddress, onFirst } from "../../platform/serving/listen_address.ts";
import { READING, type Route, router, textAnswer } from "../../platform/serving/http.ts";

/** The running servers, and the state that they serve. */
export interface InstallStatus {
  readonly installs: Meter;
  readonly repairs: Meter;
  /** Sets the reason why the plugin is not installed; `undefined` if it is installed. */
  set(problem: string | undefined): void;
  close(): Promise<void>;
}

/** Connection limits. Small, because only the kubelet and Prometheus connect. */
const CONNECTIONS = {
  most: 32,
  mostOfAddress: 24,
  newOfAddress: 100,
  headBytes: 32 * 1024,
  firstRequest: 15_000,
  silence: 180_000,
} as const;

/** Serves on the given addresses. Rejects with a `MeshError` if an address cannot be bound. */
export async function startStatus(
  { network }: World,
  log: Logger,
  addresses: readonly ListenAddress[],
): Promise<InstallStatus> {
  const installs = meter("counter", "istio_cni_installs_total", "Installations of the CNI plugin, by result.");
  const ready = meter("gauge", "istio_cni_install_ready", "1 if the CNI plugin is installed, otherwise 0.");
  const repairs = meter("counter", "istio_cni_repair_pods_repaired_total", "Pods without capture, by type and result.");
  let problem: string | undefined = "the plugin is not installed yet";
  ready.set(0);
  const type = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  const metrics = () => expositionOf([installs, ready, repairs].flatMap(({ collect }) => collect()), "");
  const readiness = () =>
    problem === undefined ? textAnswer(200, "ready\n") : textAnswer(503, `not ready: ${problem}\n`);
  const routes: Route[] = [
    { path: "/readyz", methods: READING, answer: readiness },
    { path: "/healthz", methods: READING, answer: () => textAnswer(200, "ok\n") },
    { path: "/metrics", methods: READING, answer: () => textAnswer(200, metrics(), type) },
  ];
  const handler = router(routes, log);
  const servers = await Promise.all(
    addresses.map((address) =>
      onFirst(address, (hostname) => network.serve({ hostname, port: address.port, connections: CONNECTIONS }, handler))
    ),
  );
  return {
    installs,
    repairs,
    set(next) {
      problem = next;
      ready.set(next === undefined ? 1 : 0);
    },
    close: async () => void await Promise.all(servers.map((server) => server.close())),
  };
}
