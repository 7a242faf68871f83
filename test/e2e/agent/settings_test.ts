/** Invalid settings: the program prints one line for each problem, exits with a code, and starts nothing. */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";

interface Wrong {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the working folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** The messages, one for each problem. */
  readonly says: readonly string[];
  readonly code: 1 | 2;
}

const ANNOTATIONS = "etc/istio/pod/annotations";

const CASES: Readonly<Record<string, Wrong>> = {
  "an unknown flag": { args: ["--concurency", "2"], says: ['did you mean "--concurrency"?'], code: 2 },
  "a flag without its value": { args: ["--concurrency"], says: ["The flag --concurrency needs a value"], code: 2 },
  "an invalid number": { args: ["--concurrency", "many"], says: ['The flag --concurrency cannot be "many"'], code: 2 },
  "an invalid boolean": { args: ["--watch=maybe"], says: ['The flag --watch cannot be "maybe"'], code: 2 },
  "an invalid duration": {
    args: ["--drainDuration", "1h2"],
    says: ['The flag --drainDuration cannot be "1h2"'],
    code: 2,
  },
  "an unknown role": { args: ["ingress"], says: ['Unknown role "ingress"'], code: 2 },
  "an unknown restart policy": {
    args: ["--restart", "always"],
    says: ['Unknown value "always" for "--restart"'],
    code: 2,
  },
  "an unknown log format": { args: ["--log-format", "xml"], says: ['Unknown log format "xml"'], code: 2 },
  "an unknown log level": {
    args: ["--log_output_level", "loud"],
    says: ['Unknown level "loud" in "--log_output_level"'],
    code: 2,
  },
  "a PROXY_CONFIG with invalid YAML": { env: { PROXY_CONFIG: "{" }, says: ["PROXY_CONFIG: "], code: 1 },
  "a PROXY_CONFIG of another type": { env: { PROXY_CONFIG: "[1]" }, says: ["PROXY_CONFIG: "], code: 1 },
  "fields of PROXY_CONFIG": {
    env: { PROXY_CONFIG: "{discoveryAddress: nowhere, drainDuration: 1.5s, proxyAdminPort: 70000, statusPort: 0}" },
    says: ['"discoveryAddress"', '"drainDuration"', '"proxyAdminPort"', '"statusPort"'],
    code: 1,
  },
  "a mesh file with invalid YAML": {
    args: ["--meshConfig", "./mesh"],
    files: { mesh: "defaultConfig: [" },
    says: ["./mesh: "],
    code: 1,
  },
  "an annotation with an invalid ProxyConfig": {
    files: { [ANNOTATIONS]: 'proxy.istio.io/config="["\n' },
    says: ["proxy.istio.io/config"],
    code: 1,
  },
  "an annotation with an invalid address": {
    files: { [ANNOTATIONS]: 'sidecar.istio.io/discoveryAddress="nowhere"\n' },
    says: ['"sidecar.istio.io/discoveryAddress"'],
    code: 1,
  },
  "probers with invalid JSON": { env: { ISTIO_KUBE_APP_PROBERS: "{" }, says: ['"ISTIO_KUBE_APP_PROBERS"'], code: 1 },
  "a prober at another path": {
    env: { ISTIO_KUBE_APP_PROBERS: '{"/healthz": {"httpGet": {"port": 80}}}' },
    says: ['"ISTIO_KUBE_APP_PROBERS": "/healthz"'],
    code: 1,
  },
  "metrics without a port": {
    env: { ISTIO_PROMETHEUS_ANNOTATIONS: "" },
    says: ['"ISTIO_PROMETHEUS_ANNOTATIONS" is empty'],
    code: 1,
  },
  "metrics on a port of the proxy": {
    env: { ISTIO_PROMETHEUS_ANNOTATIONS: '{"scrape": "true", "port": "15020"}' },
    says: ['"ISTIO_PROMETHEUS_ANNOTATIONS": ', "15020"],
    code: 1,
  },
  "an identity socket in a folder": {
    env: { WORKLOAD_IDENTITY_SOCKET_FILE: "a/b" },
    says: ['"WORKLOAD_IDENTITY_SOCKET_FILE"', '"a/b"'],
    code: 1,
  },
  "a missing identity socket": {
    env: { WORKLOAD_IDENTITY_SOCKET_FILE: "absent" },
    says: ['"WORKLOAD_IDENTITY_SOCKET_FILE" names a socket that does not exist'],
    code: 1,
  },
  "a missing template": { args: ["--templateFile", "./absent.tmpl"], says: ["absent.tmpl"], code: 1 },
  "an invalid template": {
    args: ["--templateFile", "./broken.tmpl"],
    files: { "broken.tmpl": "{{ if }}" },
    says: ['"./broken.tmpl"'],
    code: 1,
  },
  "many problems at once": {
    args: ["--concurrency", "many", "--no-such-flag"],
    env: {
      PROXY_CONFIG: "{drainDuration: 1.5s}",
      ISTIO_KUBE_APP_PROBERS: "{",
      ISTIO_PROMETHEUS_ANNOTATIONS: "",
      WORKLOAD_IDENTITY_SOCKET_FILE: "a/b",
    },
    says: [
      ...["--concurrency", '"--no-such-flag"', '"drainDuration"', '"ISTIO_KUBE_APP_PROBERS"'],
      ...['"ISTIO_PROMETHEUS_ANNOTATIONS"', '"WORKLOAD_IDENTITY_SOCKET_FILE"'],
    ],
    code: 2,
  },
};

/** Runs it in a folder with the files. "Envoy" fails, so valid settings fail too. */
async function run(name: readonly string[], { args = [], env = {}, files = {} }: Wrong) {
  const cwd = await Deno.makeTempDir({ prefix: "mesh-settings-" });
  try {
    await Deno.mkdir(`${cwd}/etc/istio/pod`, { recursive: true });
    for (const [path, text] of Object.entries(files)) await Deno.writeTextFile(`${cwd}/${path}`, text);
    const place = { INSTANCE_IP: "127.0.0.1", CLOUD_PLATFORM: "none", POD_NAME: "web", POD_NAMESPACE: "default" };
    const failing = ["--configPath", `${cwd}/proxy`, "--binaryPath", "/bin/false"];
    const ran = await runMesh([...name, ...failing, ...args], { cwd, env: { ...place, ...env } });
    return { ...ran, written: await holdsFiles(`${cwd}/proxy`) };
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

/** The folder may exist: it held the xDS socket. */
async function holdsFiles(folder: string): Promise<boolean> {
  return await Array.fromAsync(Deno.readDir(folder)).then((entries) => entries.length > 0, () => false);
}

for (const [name, wrong] of Object.entries(CASES)) {
  Deno.test(`agent: invalid settings: ${name}`, async () => {
    const { code, stdout, stderr, written } = await run(["agent"], wrong);
    assert.deepEqual([code, stdout, written], [wrong.code, "", false], stderr);
    assert.match(stderr, /(^|\n)error: [^\n]*[^.\n]\n$/);
    assert.equal(stderr.match(/^error: /gm)?.length, 1);
    for (const said of wrong.says) assert.ok(stderr.includes(said), `${said} is not in ${stderr}`);
  });
}

Deno.test("pilot-agent proxy: invalid settings give that program's exit code and line", async () => {
  const { code, stderr } = await run(["pilot-agent", "proxy", "sidecar"], {
    env: { PROXY_CONFIG: "{drainDuration: 1.5s}" },
    says: [],
    code: 1,
  });
  assert.equal(code, 255);
  assert.match(stderr, /^Error: [^\n]*"drainDuration"[^\n]*\n$/);
});
