/** A real Envoy that is configured by files, an application behind it, and the lifecycle that runs Envoy. */
import { DEFAULT_RESTART, type Rules } from "../../../../src/agent/lifecycle/rules.ts";
import { realEnvoy } from "../../../support/programs/envoy.ts";
import { freePort } from "../../../support/ports.ts";
import { until } from "../../../support/until.ts";
import { Agent, type Place } from "./agent.ts";
import type { DriverOptions } from "./lifecycle_driver.ts";

export const envoy = await realEnvoy();

export const RULES: Rules = {
  hotRestart: true,
  restart: DEFAULT_RESTART,
  drain: { duration: 60_000, exitOnZero: false, minimum: 0, maximum: 60_000 },
  grace: 10_000,
};

/** A folder, ports, and an application that responds to `/wait` when the test allows it. */
export class Proxy implements AsyncDisposable {
  readonly ports = { admin: freePort(), main: freePort(), six: freePort(), own: freePort(), application: freePort() };
  readonly url = `http://127.0.0.1:${this.ports.main}`;
  readonly #held: (() => void)[] = [];
  readonly #application: Deno.HttpServer;
  readonly #agents: Agent[] = [];

  private constructor(readonly folder: string) {
    this.#application = Deno.serve(
      { hostname: "127.0.0.1", port: this.ports.application, onListen() {} },
      async (request) => {
        if (new URL(request.url).pathname === "/wait") await new Promise<void>((resolve) => this.#held.push(resolve));
        return new Response("application\n");
      },
    );
  }

  static async make(): Promise<Proxy> {
    const proxy = new Proxy(await Deno.makeTempDir({ prefix: "mesh-envoy-" }));
    await proxy.write("lds.json", { resources: proxy.#listeners() });
    await proxy.write("cds.json", { resources: [proxy.#cluster()] });
    await proxy.writeBootstrap();
    return proxy;
  }

  /** Writes a temporary file and renames it, because Envoy notices changes of listeners and clusters only by a move. */
  async write(name: string, content: unknown): Promise<void> {
    await Deno.writeTextFile(`${this.folder}/${name}.new`, JSON.stringify(content));
    await Deno.rename(`${this.folder}/${name}.new`, `${this.folder}/${name}`);
  }

  async writeBootstrap(more: Record<string, unknown> = {}): Promise<void> {
    const path = (name: string) => ({ path_config_source: { path: `${this.folder}/${name}` } });
    await this.write("bootstrap.json", {
      node: { id: "test", cluster: "test" },
      admin: { address: address("127.0.0.1", this.ports.admin) },
      dynamic_resources: { lds_config: path("lds.json"), cds_config: path("cds.json") },
      ...more,
    });
  }

  /** Runs the lifecycle. Resolves when Envoy is live. */
  async start(place: Place, rules: Partial<Rules> = {}, more: Partial<DriverOptions> = {}): Promise<Agent> {
    const agent = this.launch(place, rules, more);
    await agent.until("phase running");
    return agent;
  }

  launch(place: Place, rules: Partial<Rules> = {}, more: Partial<DriverOptions> = {}): Agent {
    const agent = new Agent(place, {
      binary: envoy.path,
      args: [
        ...["-c", `${this.folder}/bootstrap.json`, "--base-id", String(this.ports.admin), "--restart-epoch", "EPOCH"],
        ...["--drain-time-s", "1", "--drain-strategy", "immediate", "--parent-shutdown-time-s", "2"],
        ...["--concurrency", "1", "-l", "warning", "--file-flush-interval-msec", "50"],
      ],
      rules: { ...RULES, ...rules },
      adminUrl: `http://127.0.0.1:${this.ports.admin}`,
      ownPorts: [this.ports.own],
      ...more,
    });
    this.#agents.push(agent);
    return agent;
  }

  /** Waits until Envoy has accepted a connection on a port, because earlier connections do not count. */
  async accepted(port: number): Promise<void> {
    const url = `http://127.0.0.1:${this.ports.admin}/stats?usedonly&filter=${port}.downstream_cx_active$`;
    const isAccepted = async () => /: [1-9]/.test(await (await fetch(url)).text());
    await until(isAccepted, `Envoy has no connection at port ${port}`);
  }

  /** Waits until this many requests are in flight in the application. */
  async held(count: number): Promise<void> {
    await until(() => this.#held.length >= count, `Fewer than ${count} requests have come to the application`);
  }

  /** Responds to all requests in flight. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await Promise.all(this.#agents.map((agent) => agent.end()));
    await this.#application.shutdown();
    await Deno.remove(this.folder, { recursive: true });
    // Envoy does not remove the memory that its epochs share.
    await Deno.remove(`/dev/shm/envoy_shared_memory_${this.ports.admin * 10}`).catch(() => {});
  }

  #listeners() {
    const { main, six, own } = this.ports;
    return [listener("main", "127.0.0.1", main), listener("six", "::", six), listener("own", "::", own)];
  }

  #cluster() {
    const endpoint = { address: address("127.0.0.1", this.ports.application) };
    return {
      "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      name: "application",
      type: "STATIC",
      load_assignment: { cluster_name: "application", endpoints: [{ lb_endpoints: [{ endpoint }] }] },
    };
  }
}

function address(host: string, port: number) {
  return { socket_address: { address: host, port_value: port } };
}

const EXTENSIONS = "type.googleapis.com/envoy.extensions.filters";

function listener(name: string, host: string, port: number) {
  const router = { "@type": `${EXTENSIONS}.http.router.v3.Router` };
  return {
    "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
    name,
    address: address(host, port),
    filter_chains: [{
      filters: [{
        name: "http",
        typed_config: {
          "@type": `${EXTENSIONS}.network.http_connection_manager.v3.HttpConnectionManager`,
          stat_prefix: name,
          route_config: {
            virtual_hosts: [{
              name: "all",
              domains: ["*"],
              routes: [{ match: { prefix: "/" }, route: { cluster: "application", timeout: "0s" } }],
            }],
          },
          http_filters: [{ name: "router", typed_config: router }],
        },
      }],
    }],
  };
}
