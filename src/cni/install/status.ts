/** Serves readiness and metrics of the installer, with the paths, ports and names of istio-cni. */
import { expositionOf, type Meter, meter } from "../../base/metrics/mod.ts";
import type { Logger } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import type { ListenAddress } from "../../platform/serving/listen_address.ts";
import { textAnswer } from "../../platform/serving/http.ts";
import { serveStatus, statusRoutes } from "../../platform/serving/status_server.ts";

/** The running servers, and the state that they serve. */
export interface InstallStatus {
  readonly installs: Meter;
  readonly repairs: Meter;
  /** Sets the reason why the plugin is not installed; `undefined` if it is installed. */
  set(problem: string | undefined): void;
  close(): Promise<void>;
}

/** Serves on the given addresses. Rejects with a `MeshError` if an address cannot be bound. */
export async function startStatus(
  world: World,
  log: Logger,
  addresses: readonly ListenAddress[],
): Promise<InstallStatus> {
  const installs = meter("counter", "istio_cni_installs_total", "Installations of the CNI plugin, by result.");
  const ready = meter("gauge", "istio_cni_install_ready", "1 if the CNI plugin is installed, otherwise 0.");
  const repairs = meter("counter", "istio_cni_repair_pods_repaired_total", "Pods without capture, by type and result.");
  let problem: string | undefined = "the plugin is not installed yet";
  ready.set(0);
  const readiness = () =>
    problem === undefined ? textAnswer(200, "ready\n") : textAnswer(503, `not ready: ${problem}\n`);
  const metrics = () => expositionOf([installs, ready, repairs].map(({ collect }) => collect));
  const routes = statusRoutes("/readyz", readiness, metrics);
  const servers = await Promise.all(addresses.map((address) => serveStatus(world, log, address, routes)));
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
