/** A pod with Istio's rules in its kernel and a real Envoy that a control plane configures. */
import { snapshotOf } from "../../../../src/explain/snapshot/manifest.ts";
import type { Part, Snapshot } from "../../../../src/explain/snapshot/snapshot.ts";
import type { Logged, Sent } from "../../../support/explain_requests.ts";
import { needsProgram } from "../../../support/test_when.ts";
import { until } from "../../../support/until.ts";
import { ControlPlane, needsControlPlane } from "../../identity/support/control_plane.ts";
import { needsNamespaces, Pair, POD } from "../../iptables/support/pod.ts";
import { meshConfig } from "./mesh_config.ts";
import { ACCESS_LOG } from "./messages.ts";

const SEND = decodeURIComponent(new URL("./send.py", import.meta.url).pathname);

/** Why these tests cannot run here. */
export const missing = needsNamespaces("iptables-nft-save") ?? needsProgram("setpriv") ?? needsControlPlane();

const UID = 1337;
const ADMIN = "http://127.0.0.1:15000";

/** Answers of Envoy's admin interface that are parts of a snapshot. */
const QUESTIONS: readonly (readonly [part: string, path: string])[] = [
  ["config_dump.json", "/config_dump?include_eds"],
  ["clusters.json", "/clusters?format=json"],
  ["listeners.json", "/listeners?format=json"],
  ["server_info.json", "/server_info"],
  ["certs.json", "/certs"],
];

export class EnvoyPod implements AsyncDisposable {
  #envoy: Deno.ChildProcess | undefined;
  #plane: ControlPlane | undefined;

  private constructor(readonly envoy: string, readonly pair: Pair, private readonly folder: string) {}

  /** Creates the pod, starts the Envoy at this path, and waits until Envoy has all listeners. */
  static async start(envoy: string): Promise<EnvoyPod> {
    const folder = await Deno.makeTempDir({ prefix: "mesh-explain-" });
    const pod = new EnvoyPod(envoy, await Pair.create([4]), folder);
    try {
      await pod.#start();
    } catch (error) {
      await pod[Symbol.asyncDispose]();
      throw error;
    }
    return pod;
  }

  async #start(): Promise<void> {
    const { pod, outside } = this.pair;
    // The neighbour owns every address of the mesh and listens on none: it refuses connections at once.
    await outside.shell(
      "ip route add local 10.0.0.0/8 dev lo; ip route add 10.199.0.0/24 dev eth0 table local 2>/dev/null || true",
    );
    const args = ["iptables", "apply", "-p", "15001", "-z", "15006", "-u", String(UID), "-i", "*", "-b", "*"];
    const { code, stderr } = await pod.mesh([...args, "--force-iptables-binary", "nft"]);
    if (code !== 0) throw new Error(stderr);
    // Envoy decides TCP authorization at the first byte, after it has connected to the application.
    await pod.serve({ tcp: [8082] });
    this.#plane = await ControlPlane.start(pod);
    const config = meshConfig(this.folder);
    await this.#plane.give("a.default", config);
    await Deno.writeTextFile(`${this.folder}/bootstrap.json`, JSON.stringify(BOOTSTRAP));
    await Deno.chmod(this.folder, 0o777);
    const user = ["setpriv", `--reuid=${UID}`, `--regid=${UID}`, "--clear-groups"];
    this.#envoy = new Deno.Command("nsenter", {
      args: [
        `--net=${pod.path}`,
        ...user,
        this.envoy,
        "-c",
        `${this.folder}/bootstrap.json`,
        "--concurrency",
        "2",
        "--log-path",
        `${this.folder}/envoy.txt`,
        "--disable-hot-restart",
      ],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const listeners = config.filter((each) => String(each["@type"]).endsWith(".Listener")).length;
    const count = async () => (await this.#ask("/listeners").catch(() => "")).trim().split("\n").length;
    await until(
      async () => await count() === listeners,
      () => `Envoy has not ${listeners} listeners: ${this.#problems()}`,
    );
    await until(async () => (await this.#ask("/ready").catch(() => "")).includes("LIVE"), "Envoy is not ready");
  }

  /** Sends all requests. Returns their source ports in the same order. */
  async send(requests: readonly Sent[]): Promise<number[]> {
    const plain = requests.map((each) => ({ headers: {}, ...each }));
    const ports = new Array<number>(requests.length).fill(0);
    for (const from of ["application", "outside"] as const) {
      const own = plain.map((request, index) => ({ request, index })).filter(({ request }) => request.from === from);
      const where = from === "application" ? this.pair.pod : this.pair.outside;
      const { code, stdout, stderr } = await where.run("python3", [SEND], {
        stdin: JSON.stringify(own.map(({ request }) => request)),
      });
      if (code !== 0) throw new Error(stderr);
      const used: number[] = JSON.parse(stdout);
      own.forEach(({ index }, at) => ports[index] = used[at] ?? 0);
    }
    return ports;
  }

  /**
   * Waits for a line of the access log for each source port. A listener's line counts only if the request has no line.
   */
  async logged(ports: readonly number[], from: (index: number) => string): Promise<Logged[]> {
    const wanted = ports.map((port, index) => `${from(index)}:${port}`);
    let lines = new Map<string, Logged>();
    await until(async () => {
      lines = new Map();
      for (const line of (await this.#accessLog()).sort((a, b) => a.level < b.level ? -1 : 1)) {
        lines.set(line.from, line);
      }
      return wanted.every((each) => lines.has(each));
    }, () => `no line of the access log for ${wanted.filter((each) => !lines.has(each)).join(", ")}`);
    return wanted.map((each) => lines.get(each)).filter((line) => line !== undefined);
  }

  async #accessLog(): Promise<Logged[]> {
    // Envoy flushes the file every ten seconds, or when it is asked to.
    await this.#ask("/reopen_logs", "POST");
    const text = await Deno.readTextFile(`${this.folder}/${ACCESS_LOG}`).catch(() => "");
    return text.split("\n").filter((line) => line.endsWith("}")).map((line) => JSON.parse(line));
  }

  /** What `explain` reads, with the rules of the kernel. */
  async snapshot(): Promise<Snapshot> {
    const parts = new Map<string, Part>();
    for (const [name, path] of QUESTIONS) parts.set(name, { text: await this.#ask(path) });
    parts.set("rules.iptables", { text: await this.pair.pod.shell("iptables-nft-save -c") });
    const status = { podIP: POD[4], podIPs: [{ ip: POD[4] }] };
    const containers = [{ name: "app", securityContext: { runAsUser: 0 } }, { name: "istio-proxy" }];
    const pod = { metadata: { name: "a", namespace: "default" }, spec: { containers }, status };
    parts.set("pod.json", { text: JSON.stringify(pod) });
    return snapshotOf(parts, "the test");
  }

  /** What Envoy refused, else the end of its log. */
  #problems(): string {
    const text = Deno.readTextFileSync(`${this.folder}/envoy.txt`);
    const at = text.indexOf(" rejected: ");
    return text.slice(at < 0 ? -2000 : at, at < 0 ? undefined : at + 2000);
  }

  async #ask(path: string, method = "GET"): Promise<string> {
    const program = "import sys, urllib.request as u; " +
      "sys.stdout.write(u.urlopen(u.Request(sys.argv[1], method=sys.argv[2]), timeout=20).read().decode())";
    const { code, stdout, stderr } = await this.pair.pod.run("python3", ["-c", program, ADMIN + path, method]);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#envoy !== undefined) {
      this.#envoy.kill("SIGTERM");
      await this.#envoy.status;
    }
    await this.#plane?.[Symbol.asyncDispose]();
    await this.pair[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}

const BOOTSTRAP = {
  node: { id: `sidecar~${POD[4]}~a.default~default.svc.cluster.local`, cluster: "a" },
  admin: { address: { socket_address: { address: "127.0.0.1", port_value: 15000 } } },
  dynamic_resources: {
    lds_config: { ads: {}, resource_api_version: "V3" },
    cds_config: { ads: {}, resource_api_version: "V3" },
    ads_config: {
      api_type: "GRPC",
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name: "xds-grpc" } }],
    },
  },
  static_resources: {
    clusters: [{
      name: "xds-grpc",
      type: "STATIC",
      connect_timeout: "2s",
      load_assignment: {
        cluster_name: "xds-grpc",
        endpoints: [{
          lb_endpoints: [{ endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 15010 } } } }],
        }],
      },
      typed_extension_protocol_options: {
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
          "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
          explicit_http_config: { http2_protocol_options: {} },
        },
      },
    }],
  },
};
