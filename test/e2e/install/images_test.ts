/** Each role of a pod and the webhook, in the root file systems of the images, as a container runtime starts them. */
import assert from "node:assert/strict";
import { partsOf, pinsOf } from "../../../tools/images/assemble.ts";
import { type Debian, packagesGone } from "../../../tools/images/debian.ts";
import { complete, writeTree } from "../../../tools/images/entry.ts";
import { type Image, IMAGES } from "../../../tools/images/images.ts";
import { CACHE } from "../../support/programs/cache.ts";
import { realEnvoy } from "../../support/programs/envoy.ts";
import { MESH_BINARY } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testCertificate } from "../../support/tls/certificates.ts";
import { until } from "../../support/until.ts";
import { MeshPod, REDIRECT_ALL } from "../agent/support/mesh_pod.ts";
import { Namespace, needsNamespaces, Pair } from "../iptables/support/pod.ts";

const RUNTIME = decodeURIComponent(new URL("./container.py", import.meta.url).pathname);
const DEBIAN: Debian = { folder: `${CACHE}/debian`, architecture: "amd64" };
const NET_ADMIN = 12;
const NET_RAW = 13;

const envoy = await realEnvoy();
const missing = needsNamespaces("apt-get", "dpkg-deb", "iptables-save", "nft", "curl") ?? envoy.missing ??
  (MESH_BINARY === undefined ? "the images hold a compiled binary: MESH_BINARY names none" : undefined) ??
  (Deno.build.arch === "x86_64" ? undefined : "a container of amd64 runs on amd64") ??
  await packagesGone(pinsOf(DEBIAN.architecture, IMAGES.init, IMAGES.proxy), DEBIAN);

/** Unpacks an image's root file system below a folder. Returns its path. */
async function unpack(folder: string, image: Image): Promise<string> {
  const programs = { "mesh-agent": MESH_BINARY ?? "", "kubectl-mesh": MESH_BINARY ?? "", "envoy": envoy.path };
  const parts = await partsOf(image, programs, DEBIAN);
  const root = `${folder}/root`;
  await Deno.mkdir(root);
  await Deno.chmod(folder, 0o755);
  await writeTree(root, parts.flatMap(({ entries }) => entries));
  return root;
}

/** How a container starts. */
interface Container {
  readonly root: string;
  readonly image: Image;
  readonly capabilities?: readonly number[];
  readonly writable?: readonly string[];
  /** Files of this machine by their paths in the container. */
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The arguments of nsenter that start a container in a network namespace. */
function started(namespace: Namespace, container: Container, argv: readonly string[]): string[] {
  const { root, image, capabilities = [], writable = [], files = {}, environment = {} } = container;
  const want = {
    ...{ root, capabilities, writable, files },
    uid: Number(image.user.split(":")[0]),
    arguments: argv[0]?.startsWith("/") ? argv : [...image.entrypoint, ...argv],
    environment: { PATH: "/usr/local/bin:/usr/sbin:/usr/bin", ...environment },
  };
  return [`--net=${namespace.path}`, "python3", RUNTIME, JSON.stringify(want)];
}

async function run(namespace: Namespace, container: Container, argv: readonly string[]) {
  const args = started(namespace, container, argv);
  const { code, stdout, stderr } = await new Deno.Command("nsenter", { args, stdin: "null" }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

testWhen(missing, "the image init captures traffic with one capability and a read-only root", async () => {
  await using folder = await temporaryFolder();
  const root = await unpack(folder.path, IMAGES.init);
  await using pair = await Pair.create([4]);
  const namespace = pair.pod;
  const container = { root, image: IMAGES.init };
  const capture = ["istio-iptables", ...REDIRECT_ALL];
  const refused = await run(namespace, container, capture);
  assert.notEqual(refused.code, 0, "without a capability");
  const may = { ...container, capabilities: [NET_ADMIN] };
  const { code, stderr } = await run(namespace, may, capture);
  assert.equal(code, 0, stderr);
  assert.match(await namespace.shell("iptables-save"), /-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports 15001/);
  const clean = await run(namespace, may, ["/usr/local/bin/istio-clean-iptables"]);
  assert.equal(clean.code, 0, clean.stderr);
  assert.doesNotMatch(await namespace.shell("iptables-save"), /ISTIO/);
  const native = await run(namespace, may, [...capture, "--native-nftables"]);
  assert.equal(native.code, 0, native.stderr);
  assert.match(await namespace.shell("nft list ruleset"), /redirect to :15001/);
  const legacy = { ...container, capabilities: [NET_ADMIN, NET_RAW], writable: ["/run"] };
  const old = await run(namespace, legacy, [...capture, "--backend", "iptables-legacy"]);
  assert.equal(old.code, 0, old.stderr);
  assert.match(await namespace.shell("iptables-legacy-save -t nat"), /--to-ports 15001/);
});

testWhen(missing, "the image proxy runs Envoy without capabilities, and wait sees that it is ready", async () => {
  await using folder = await temporaryFolder();
  const root = await unpack(folder.path, IMAGES.proxy);
  await using pod = await MeshPod.create();
  const container: Container = {
    root,
    image: IMAGES.proxy,
    writable: EMPTY_FOLDERS,
    files: { "/xds": `${pod.folder}/xds`, "/override.json": `${pod.folder}/override.json`, "/etc/hosts": "/etc/hosts" },
    environment: pod.env({ binaryPath: "/usr/local/bin/envoy" }),
  };
  const args = started(pod.namespace, container, ["proxy", "sidecar"]);
  await using agent = new Deno.Command("nsenter", { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  const said = new Response(agent.stderr).text();
  const kubectlMesh = (...argv: string[]) =>
    run(pod.namespace, { root, image: IMAGES.proxy, files: { "/etc/hosts": "/etc/hosts" } }, [
      "/usr/local/bin/kubectl-mesh",
      ...argv,
    ]);
  const waited = await kubectlMesh("wait", "--timeout", "60s");
  const quit = await kubectlMesh("agent", "quit");
  if (quit.code !== 0) agent.kill("SIGTERM");
  const text = await said;
  assert.equal(waited.code, 0, `${waited.stderr}\n${text}`);
  assert.equal(quit.code, 0, quit.stderr);
  assert.match(text, /Envoy \(epoch 0\) is live/);
});

/** Where Istio's template mounts empty folders. */
const EMPTY_FOLDERS = [
  ...["/etc/istio/proxy", "/var/lib/istio/data", "/tmp"],
  ...["/var/run/secrets/workload-spiffe-uds", "/var/run/secrets/credential-uds"],
];

testWhen(missing, "the image webhook serves with a read-only root and no capabilities", async () => {
  await using folder = await temporaryFolder();
  const root = await unpack(folder.path, IMAGES.webhook);
  await using namespace = await Namespace.create();
  await namespace.shell("ip link set lo up");
  const { certificate, key } = testCertificate();
  for (const [name, text] of Object.entries({ "tls.crt": certificate, "tls.key": key })) {
    await Deno.writeTextFile(`${folder.path}/${name}`, text);
    await Deno.chmod(`${folder.path}/${name}`, 0o444);
  }
  const container = {
    root,
    image: IMAGES.webhook,
    files: { "/tls.crt": `${folder.path}/tls.crt`, "/tls.key": `${folder.path}/tls.key` },
  };
  const argv = ["webhook", "serve", "--tls-cert", "/tls.crt", "--tls-key", "/tls.key"];
  const args = started(namespace, container, argv);
  await using webhook = new Deno.Command("nsenter", { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  const said = new Response(webhook.stderr).text();
  let hasEnded = false;
  webhook.status.then(() => hasEnded = true);
  const answers = async (url: string) => (await namespace.run("curl", ["-skf", url])).code === 0;
  await until(async () => hasEnded || await answers("http://127.0.0.1:8080/ready"));
  const isServed = await answers("https://127.0.0.1:15017/ready");
  // The second SIGTERM ends the drain.
  for (let left = 2; left > 0 && !hasEnded; left--) webhook.kill("SIGTERM");
  assert.ok(isServed, await said);
});

testWhen(missing, "the images have no shell, and only init has programs that capture traffic", async () => {
  for (const [name, image] of Object.entries(IMAGES)) {
    const programs = { "mesh-agent": MESH_BINARY ?? "", "kubectl-mesh": MESH_BINARY ?? "", "envoy": envoy.path };
    const parts = await partsOf(image, programs, DEBIAN);
    const paths = complete(parts.flatMap(({ entries }) => entries)).map(({ path }) => path);
    assert.deepEqual(paths.filter((path) => /(^|\/)(sh|bash|dash|busybox)$/.test(path)), [], name);
    assert.equal(paths.some((path) => /(^|\/)(xtables|iptables|nft)/.test(path)), name === "init", name);
  }
});
