/**
 * Applications that speak xDS themselves (proxyless gRPC): the agent writes bootstrap and certificates, and serves xDS
 * on a socket.
 */
import assert from "node:assert/strict";
import { goProgram } from "../../support/programs/go_program.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { Application } from "../agent/support/application.ts";
import { Program } from "../agent/support/program.ts";
import { PROXY_UID } from "../agent/support/mesh_pod.ts";
import { Mesh } from "./support/mesh.ts";
import { grpcClientResources, grpcServerResources, spiffe } from "./support/resources.ts";
import { type MeshedPod, missing } from "./support/pod.ts";

/** What Istio's template grpc-agent sets. */
function grpcEnv({ folder }: MeshedPod): Record<string, string> {
  return {
    DISABLE_ENVOY: "true",
    ISTIO_META_GENERATOR: "grpc",
    ISTIO_META_DNS_CAPTURE: "false",
    OUTPUT_CERTS: `${folder}/var/lib/istio/data`,
    PROXY_CONFIG: JSON.stringify({ configPath: `${folder}/etc/istio/proxy` }),
  };
}

/** Runs the application in the pod. */
function application(program: string, { folder, namespace: { path: netns } }: MeshedPod, args: readonly string[]) {
  const env = { GRPC_XDS_BOOTSTRAP: `${folder}/etc/istio/proxy/grpc-bootstrap.json` };
  return new Program([program, ...args], { cwd: folder, env, netns, uid: PROXY_UID, seconds: 60 });
}

testWhen(missing, "proxyless gRPC: a client asks a server by mutual TLS, both without Envoy", async () => {
  const program = await goProgram("test/e2e/servers/controlplane", "./grpcapp");
  await using mesh = await Mesh.create();
  const { a, b, plane } = mesh;
  await plane.give("a.test", grpcClientResources(spiffe("b")));
  await plane.give("b.test", grpcServerResources());
  const agents = await Promise.all([a, b].map((pod) => pod.startReady(["agent"], { env: grpcEnv(pod) })));
  const { text } = await a.readiness();
  assert.match(text, /^\[\+\]running ok: .*\n\[\+\]grpc ok: .*\nready\n$/);
  await using server = application(program, b, ["-listen", "0.0.0.0:9090"]);
  await until(() => server.text.includes('"mode":"SERVING"'), () => `Not serving: ${server.text}`);
  await using client = application(program, a, ["-ask", "xds:///b.test.svc.cluster.local:9090"]);
  const { stdout, stderr } = await client.end;
  assert.deepEqual(JSON.parse(stdout || "{}"), { status: "SERVING", identity: spiffe("b"), problem: "" }, stderr);
  // A peer in plain text gets no answer.
  await using outside = await Application.start(mesh.network.plane.path);
  assert.equal((await outside.ask(`http://${b.address}:9090/`)).status, 0);
  const streams = await plane.openStreams("b.test");
  assert.deepEqual(streams.map(({ identity, delta, refused }) => [identity, delta, refused]), [[
    spiffe("b"),
    false,
    [],
  ]]);
  // The client verifies the server's identity.
  await plane.give("a.test", grpcClientResources(spiffe("other")));
  await using suspicious = application(program, a, ["-wait", "5s", "-ask", "xds:///b.test.svc.cluster.local:9090"]);
  assert.match((await suspicious.end).stdout, /"status":"UNKNOWN"/);
  for (const agent of agents) agent.signal("SIGQUIT");
});

testWhen(missing, "proxyless gRPC: the pod is not ready without certificates, and says why", async () => {
  await using mesh = await Mesh.create({ refuseTokens: true });
  const { a, plane } = mesh;
  const agent = a.start(["agent"], { env: grpcEnv(a) });
  await a.readinessSays(/\[-\]grpc failed: .*cert-chain\.pem" \(OUTPUT_CERTS\) does not exist yet; .*token: /, agent);
  await plane.behave({});
  await a.isReady(agent);
});
