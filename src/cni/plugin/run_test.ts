import assert from "node:assert/strict";
import { fakeWorld, type FakeWorldOptions } from "../../../test/support/fake_world.ts";
import { runPlugin } from "./run.ts";

const RESULT = { ips: [{ address: "10.0.0.2/24" }], interfaces: [], extra: { kept: 1 } };
const VARIABLES = {
  CNI_CONTAINERID: "c1",
  CNI_NETNS: "/run/netns/c1",
  CNI_IFNAME: "eth0",
  CNI_PATH: "/opt/cni/bin",
  CNI_ARGS: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0",
};
const KUBECONFIG = JSON.stringify({
  ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
  clusters: [{ name: "c", cluster: { server: "http://10.0.0.1" } }],
  users: [{ name: "c", user: { token: "secret-token" } }],
  contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
});

interface Asked extends Pick<FakeWorldOptions, "request" | "files"> {
  readonly command: string;
  readonly configuration?: object;
  readonly variables?: Readonly<Record<string, string>>;
}

async function ask({ command, configuration = {}, variables = VARIABLES, ...options }: Asked) {
  const stdin = JSON.stringify({
    ...{ cniVersion: "1.0.0", name: "k8s", type: "mesh-cni", prevResult: { cniVersion: "1.0.0", ...RESULT } },
    ...configuration,
  });
  const files = { "/var/run/mesh-cni/mesh-cni-kubeconfig": KUBECONFIG };
  const world = fakeWorld({ stdin, env: { ...variables, CNI_COMMAND: command }, files, ...options });
  const code = await runPlugin(world);
  return {
    code,
    answer: world.said.stdout === "" ? undefined : JSON.parse(world.said.stdout),
    said: world.said,
    world,
  };
}

function podAnswer(spec: object): Response {
  return Response.json({ apiVersion: "v1", kind: "Pod", metadata: { name: "web-0" }, spec });
}

Deno.test("VERSION names the versions whose results pass through, without an input", async () => {
  const { code, answer } = await ask({ command: "VERSION", variables: {} });
  assert.equal(code, 0);
  assert.deepEqual(answer.supportedVersions, ["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"]);
});

Deno.test("a pod that is not captured gets the result of the previous plugins, with unknown fields", async () => {
  const { code, answer } = await ask({ command: "ADD", request: () => podAnswer({ containers: [{ name: "app" }] }) });
  assert.deepEqual([code, answer], [0, { cniVersion: "1.0.0", ...RESULT }]);
});

for (const version of ["0.3.1", "0.4.0", "1.1.0"]) {
  Deno.test(`the result has the version of the configuration: ${version}`, async () => {
    const { answer } = await ask({
      command: "ADD",
      configuration: { cniVersion: version, exclude_namespaces: ["shop"] },
    });
    assert.equal(answer.cniVersion, version);
  });
}

const NOT_ASKED: readonly (readonly [what: string, asked: Omit<Asked, "command">])[] = [
  ["an excluded namespace", { configuration: { exclude_namespaces: ["shop"] } }],
  ["the installer's own pod", { configuration: { pod_namespace: "shop", pod_prefix: "web-" } }],
  ["a container of no pod", { variables: { ...VARIABLES, CNI_ARGS: "" } }],
];

for (const [what, asked] of NOT_ASKED) {
  Deno.test(`${what} starts without the API, as after a restart of the node`, async () => {
    const { code, answer } = await ask({ command: "ADD", files: {}, ...asked });
    assert.deepEqual([code, answer.ips], [0, RESULT.ips]);
  });
}

Deno.test("without a previous result, as with Multus, the result is empty", async () => {
  const configuration = { prevResult: undefined, exclude_namespaces: ["shop"] };
  const { answer } = await ask({ command: "ADD", configuration });
  assert.deepEqual(answer, { cniVersion: "1.0.0" });
});

for (const command of ["DEL", "GC", "STATUS"]) {
  Deno.test(`${command} succeeds while the API server is away, and says nothing`, async () => {
    const { code, said } = await ask({ command, configuration: { cniVersion: "1.1.0" } });
    assert.deepEqual([code, said], [0, { stdout: "", stderr: "" }]);
  });
}

Deno.test("ADD waits 30 s for the API server, then names the pod and the reason in CNI's form", async () => {
  const { code, answer, world } = await ask({ command: "ADD" });
  assert.equal(code, 1);
  assert.equal(answer.code, 11);
  assert.match(
    answer.msg,
    /^Cannot read the pod "shop\/web-0" to capture its traffic: The Kubernetes API server "http:\/\/10\.0\.0\.1" cannot/,
  );
  assert.match(answer.details, /DaemonSet/);
  assert.ok(world.clock.monotonic() >= 29_000 && world.clock.monotonic() <= 31_000);
});

Deno.test("ADD reports a missing kubeconfig, and reads the kubeconfig once the installer has written it", async () => {
  const { answer } = await ask({ command: "ADD", files: {} });
  assert.match(answer.msg, /the installer has not written ".*mesh-cni-kubeconfig" since the node started/);
});

Deno.test("invalid settings of a pod are named by their annotations", async () => {
  const annotations = {
    "sidecar.istio.io/status": "{}",
    "traffic.sidecar.istio.io/includeInboundPorts": "http",
    "traffic.sidecar.istio.io/excludeOutboundIPRanges": "10.0.0.0",
  };
  const request = () =>
    Response.json({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "web-0", annotations } },
      spec: { containers: [{ name: "istio-proxy" }] },
    });
  const { code, answer } = await ask({ command: "ADD", request });
  assert.deepEqual([code, answer.code], [1, 100]);
  assert.match(answer.msg, /^The settings of the pod are invalid: traffic\.sidecar\.istio\.io\/\w+: /);
  assert.match(
    `${answer.msg} ${answer.details}`,
    /includeInboundPorts.*excludeOutboundIPRanges|excludeOutboundIPRanges.*includeInboundPorts/,
  );
});

const REFUSED: readonly (readonly [what: string, asked: Asked, code: number, msg: RegExp])[] = [
  ["no command", { command: "" }, 4, /CNI_COMMAND is not set/],
  ["an unknown command", { command: "FIX" }, 4, /Unknown CNI_COMMAND "FIX"/],
  ["missing variables", { command: "ADD", variables: { CNI_PATH: "/" } }, 4, /CNI_CONTAINERID, CNI_NETNS, CNI_IFNAME/],
  ["an old version", { command: "ADD", configuration: { cniVersion: "0.2.0" } }, 1, /"0\.2\.0"/],
  ["a command of later versions", { command: "STATUS" }, 1, /STATUS needs CNI version 1\.1\.0/],
  ["a wrong field", { command: "DEL", configuration: { exclude_namespaces: "a" } }, 7, /"exclude_namespaces"/],
];

for (const [what, asked, code, msg] of REFUSED) {
  Deno.test(`${what} is refused with the code ${code}`, async () => {
    const result = await ask(asked);
    assert.deepEqual([result.code, result.answer.code], [1, code]);
    assert.match(result.answer.msg, msg);
  });
}

Deno.test("an input that is not JSON or is too large is refused", async () => {
  for (const [stdin, code] of [["{", 6], [" ".repeat((1 << 20) + 1), 5]] as const) {
    const world = fakeWorld({ stdin, env: { ...VARIABLES, CNI_COMMAND: "ADD" } });
    assert.equal(await runPlugin(world), 1);
    assert.equal(JSON.parse(world.said.stdout).code, code);
  }
});

Deno.test("the token of the kubeconfig is in no output", async () => {
  const { said } = await ask({ command: "ADD", configuration: { plugin_log_level: "debug" } });
  assert.ok(!JSON.stringify(said).includes("secret-token"));
});
