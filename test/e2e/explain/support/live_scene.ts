/**
 * Running pods of a cluster. The kubelet runs their commands in a network namespace with a real Envoy and Istio's
 * rules.
 */
import { realEnvoy } from "../../../support/programs/envoy.ts";
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import { needsProgram } from "../../../support/test_when.ts";
import { until } from "../../../support/until.ts";
import { REDIRECT_ALL } from "../../agent/support/mesh_pod.ts";
import { type Namespace, needsNamespaces, OUTSIDE, type Pair, POD } from "../../iptables/support/pod.ts";
import { type Cluster, needsCluster } from "../../support/cluster/cluster.ts";
import { created, createNamespace } from "../../support/cluster/requests.ts";
import { addRunningPod, type KubeletNode, type RunningContainer } from "../../support/kubelet.ts";
import assert from "node:assert/strict";

const envoy = await realEnvoy();

/** Why these tests cannot run here. */
export const missing = envoy.missing ?? needsCluster() ?? needsNamespaces("iptables-save") ?? needsProgram("curl") ??
  needsProgram("setpriv");

export const NODE_ID = `sidecar~${POD[4]}~web.shop~shop.svc.cluster.local`;

const A = "outbound|80||a.shop.svc.cluster.local";
/** Where the neighbour serves HTTP. */
export const SERVER_PORT = 8000;
/** The application's port. */
export const APPLICATION_PORT = 8081;
/** A port that is not captured. */
export const EXCLUDED_PORT = 9400;

/** Istio's default, pilot/pkg/model/telemetry_logging.go. */
const LOG_FORMAT =
  '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% ' +
  '%RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% "%UPSTREAM_TRANSPORT_FAILURE_REASON%" %BYTES_RECEIVED% ' +
  '%BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" ' +
  '"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%" %UPSTREAM_CLUSTER_RAW% %UPSTREAM_LOCAL_ADDRESS% ' +
  "%DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% %REQUESTED_SERVER_NAME% %ROUTE_NAME%\n";

const TYPE = "type.googleapis.com/envoy.extensions";
const ACCESS_LOG = [{
  name: "envoy.access_loggers.file",
  typed_config: {
    "@type": `${TYPE}.access_loggers.file.v3.FileAccessLog`,
    path: "/dev/stdout",
    log_format: { text_format_source: { inline_string: LOG_FORMAT } },
  },
}];

function tcpProxy(cluster: string): object {
  const typed_config = {
    "@type": `${TYPE}.filters.network.tcp_proxy.v3.TcpProxy`,
    stat_prefix: "tcp",
    cluster,
    access_log: ACCESS_LOG,
  };
  return { name: "envoy.filters.network.tcp_proxy", typed_config };
}

function route(name: string, prefix: string, more: object): object {
  return { name, match: { prefix }, ...more };
}

const OUTBOUND_HOST = {
  name: "a",
  domains: ["a.shop", "a.shop.svc.cluster.local", "10.196.0.1"],
  routes: [
    route("broken", "/broken", { route: { cluster: "outbound|81||a.shop.svc.cluster.local" } }),
    route("default", "/", { route: { cluster: A } }),
  ],
};
const INBOUND = `inbound|${APPLICATION_PORT}||`;
const INBOUND_HOST = {
  name: INBOUND,
  domains: ["*"],
  routes: [route("default", "/", { route: { cluster: INBOUND } })],
};
const APPLICATION_HOST = {
  name: "app",
  domains: ["*"],
  routes: [route("app", "/", { direct_response: { status: 200 } })],
};

/** A policy refuses `/secret`. */
const RBAC = {
  name: "envoy.filters.http.rbac",
  typed_config: {
    "@type": `${TYPE}.filters.http.rbac.v3.RBAC`,
    rules: {
      action: "DENY",
      policies: {
        "ns[shop]-policy[secret]-rule[0]": {
          permissions: [{ url_path: { path: { prefix: "/secret" } } }],
          principals: [{ any: true }],
        },
      },
    },
  },
};

function httpManager(host: object, { access_log = ACCESS_LOG, filters = [] }: {
  readonly access_log?: readonly object[];
  readonly filters?: readonly object[];
} = {}): object {
  const router = {
    name: "envoy.filters.http.router",
    typed_config: { "@type": `${TYPE}.filters.http.router.v3.Router` },
  };
  const typed_config = {
    "@type": `${TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "http",
    route_config: { name: "80", virtual_hosts: [host] },
    http_filters: [...filters, router],
    access_log,
  };
  return { name: "envoy.filters.network.http_connection_manager", typed_config };
}

function staticCluster(name: string, port: number): object {
  const address = { socket_address: { address: OUTSIDE[4], port_value: port } };
  const load_assignment = { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] };
  return { name, type: "STATIC", connect_timeout: "30s", load_assignment };
}

function listener(name: string, port: number, filter: object, more: object): object {
  return {
    name,
    address: { socket_address: { address: "0.0.0.0", port_value: port } },
    filter_chains: [{ filters: [filter] }],
    ...more,
  };
}

const ORIGINAL_DST = {
  name: "envoy.filters.listener.original_dst",
  typed_config: { "@type": `${TYPE}.filters.listener.original_dst.v3.OriginalDst` },
};

/** A sidecar with the usual admin port and one HTTP service; other traffic passes through. */
const BOOTSTRAP = {
  node: { id: NODE_ID, cluster: "web.shop", metadata: { ISTIO_VERSION: "1.29.1" } },
  admin: { address: { socket_address: { address: "127.0.0.1", port_value: 15000 } } },
  static_resources: {
    clusters: [
      staticCluster(A, SERVER_PORT),
      staticCluster("outbound|81||a.shop.svc.cluster.local", 1),
      {
        name: INBOUND,
        type: "ORIGINAL_DST",
        connect_timeout: "30s",
        lb_policy: "CLUSTER_PROVIDED",
        // Istio's rules do not capture connections from this address.
        upstream_bind_config: { source_address: { address: "127.0.0.6", port_value: 0 } },
      },
      { name: "PassthroughCluster", type: "ORIGINAL_DST", connect_timeout: "30s", lb_policy: "CLUSTER_PROVIDED" },
    ],
    listeners: [
      listener("virtualOutbound", 15001, tcpProxy("PassthroughCluster"), {
        use_original_dst: true,
        listener_filters: [ORIGINAL_DST],
      }),
      listener("virtualInbound", 15006, httpManager(INBOUND_HOST, { filters: [RBAC] }), {
        listener_filters: [ORIGINAL_DST],
        traffic_direction: "INBOUND",
      }),
      listener("0.0.0.0_80", 80, httpManager(OUTBOUND_HOST), { bind_to_port: false }),
      // The application.
      listener("app", APPLICATION_PORT, httpManager(APPLICATION_HOST, { access_log: [] }), {}),
    ],
  },
};

/** A server of HTTP/1.1 that keeps connections open. */
const SERVER = `
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("0.0.0.0", ${SERVER_PORT}), Answer)
print("ready", flush=True)
server.serve_forever()
`;

/** Serves HTTP and plain TCP in the neighbour, at every address of the mesh. */
export async function startServer({ outside }: Pair): Promise<Deno.ChildProcess> {
  await outside.shell(
    "ip route add local 10.192.0.0/12 dev lo; ip route add 10.199.0.0/24 dev eth0 table local || true",
  );
  await outside.serve({ tcp: [EXCLUDED_PORT, 3306] });
  const args = [`--net=${outside.path}`, "python3", "-c", SERVER];
  const server = new Deno.Command("nsenter", { args, stdin: "null", stdout: "piped", stderr: "null" }).spawn();
  const reader = server.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  if (value === undefined) throw new Error("the server did not start");
  return server;
}

/** Kills a process and waits for its end. */
export async function ended(process: Deno.ChildProcess): Promise<void> {
  try {
    process.kill("SIGKILL");
  } catch {
    // It has ended.
  }
  await process.status;
}

export interface Scene {
  readonly cluster: Cluster;
  readonly node: KubeletNode;
  readonly folder: string;
  /** The running containers, as `namespace/pod/container`. */
  readonly containers: Readonly<Record<string, RunningContainer>>;
}

/** The file of Envoy's standard output. */
export function logOf(folder: string): string {
  return `${folder}/envoy.log`;
}

/** Starts Envoy and waits until it is ready. */
export async function startEnvoy(namespace: Namespace, folder: string): Promise<Deno.ChildProcess> {
  await Deno.writeTextFile(`${folder}/envoy.json`, JSON.stringify(BOOTSTRAP));
  await Deno.chmod(folder, 0o755);
  // Envoy opens /dev/stdout as another user, so this file must be writable for all.
  await Deno.writeTextFile(logOf(folder), "");
  await Deno.chmod(logOf(folder), 0o666);
  const args = [
    "-c",
    'exec nsenter --net="$1" setpriv --reuid=1337 --regid=1337 --clear-groups "$2" -c "$3" --disable-hot-restart ' +
    '-l error --file-flush-interval-msec 100 >>"$4"',
    "sh",
    namespace.path,
    envoy.path,
    `${folder}/envoy.json`,
    logOf(folder),
  ];
  const process = new Deno.Command("sh", { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  const ask = ["-sf", "http://127.0.0.1:15000/ready"];
  await until(async () => (await namespace.run("curl", ask)).code === 0, () => "Envoy did not become ready");
  return process;
}

export const CAPTURE_ARGS = [...REDIRECT_ALL, "-d", "15090", "-o", String(EXCLUDED_PORT)];
export const IMAGE = "registry.example/proxyv2:1.29.1";
export const RUNNING = { running: { startedAt: "2026-01-02T03:04:05Z" } };

/** The program under test, which starts slowly, sends only the requests whose paths match this shell pattern. */
export function ownAgent(paths: string): string {
  return `MESH_OWN_AGENT=${paths}`;
}

/** Writes a `pilot-agent` that sends requests with curl, except those that `ownAgent` selects. */
export async function writePilotAgent(programs: string): Promise<void> {
  const own = Deno.env.get("MESH_PILOT_AGENT");
  const agent = own === undefined ? `"${MESH_COMMAND}" pilot-agent` : `"${own}"`;
  await Deno.writeTextFile(`${programs}/pilot-agent`, `#!/bin/sh\n${PILOT_AGENT}exec ${agent} "$@"\n`, { mode: 0o755 });
}

const PILOT_AGENT = `if [ "$1$2" = request--debug-port ]; then port=$3 path=$5; else port=15000 path=$3; fi
if [ "$1" = request ]; then
  case $path in
    $MESH_OWN_AGENT) ;;
    *) exec curl -sS --fail-with-body "http://localhost:$port/$path" ;;
  esac
fi
`;

/** The application's user. */
export const APPLICATION = 1000;

/** Pods, their owners, and the containers that the kubelet runs. */
export async function scene(
  { cluster, node, folder }: Omit<Scene, "containers">,
  namespace: Namespace,
): Promise<Scene> {
  const programs = `${folder}/bin`;
  await Deno.mkdir(programs);
  await writePilotAgent(programs);
  await createNamespace(cluster, "shop");
  const running = {
    command: ["nsenter", `--net=${namespace.path}`],
    path: `${programs}:${Deno.env.get("PATH")}`,
    log: logOf(folder),
  };
  const names = ["web", "admin"].map((name) => [`shop/${name}/istio-proxy`, running] as const);
  const containers = Object.fromEntries(names);
  await node.runs(containers);
  for (const name of ["web", "admin", "ended"]) await addPod({ cluster, node }, name);
  await addPod({ cluster, node }, "plain", ["web"]);
  const selector = { matchLabels: { app: "web" } };
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web" }] } };
  await created(cluster, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop" },
    spec: { selector, template },
  });
  await created(cluster, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "shop" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  });
  return { cluster, node, folder, containers };
}

async function addPod(
  { cluster, node }: Pick<Scene, "cluster" | "node">,
  name: string,
  names = ["web", "istio-proxy"],
): Promise<void> {
  const args = ["istio-iptables", ...CAPTURE_ARGS];
  const containers = names.map((each) => ({
    name: each,
    image: each === "istio-proxy" ? IMAGE : "web",
    env: [{ name: "PASSWORD", value: "hunter2" }],
    ports: [{ containerPort: each === "istio-proxy" ? 15090 : 8080 }],
    ...each === "istio-proxy" && name === "admin"
      ? { securityContext: { capabilities: { add: ["NET_ADMIN"] } } }
      : { securityContext: { runAsUser: APPLICATION } },
  }));
  const ready = name === "ended" ? "False" : "True";
  await addRunningPod(cluster, {
    metadata: { name, namespace: "shop", labels: { app: name, mesh: "yes" } },
    spec: { nodeName: node.name, containers, initContainers: [{ name: "istio-init", image: IMAGE, args }] },
    status: {
      phase: "Running",
      podIP: POD[4],
      podIPs: [{ ip: POD[4] }],
      conditions: [{ type: "Ready", status: ready }],
      containerStatuses: names.map((each) => ({
        name: each,
        image: IMAGE,
        imageID: "",
        ready: true,
        restartCount: 0,
        state: name === "ended" && each === "istio-proxy" ? { terminated: { exitCode: 255 } } : RUNNING,
      })),
    },
  });
}

export async function kubectl(cluster: Cluster, args: readonly string[], stdin?: string): Promise<void> {
  const { code, stderr } = await cluster.kubectl(args, stdin);
  assert.equal(code, 0, stderr);
}
