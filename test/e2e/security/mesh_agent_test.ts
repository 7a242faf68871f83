/**
 * Input from the author of a pod: files of mounted volumes, annotations, variables. The agent starts, or says why not.
 */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";

interface Attack {
  /** Prepares the working folder; the annotations of the downward API are at `ANNOTATIONS`. */
  readonly prepare?: (folder: string) => Promise<void>;
  readonly env?: Readonly<Record<string, string>>;
  readonly code: 0 | 1;
  /** The expected standard error. */
  readonly says: RegExp;
}

const ANNOTATIONS = "etc/istio/pod/annotations";
const LONG = 120_000;

function annotations(text: string) {
  return (folder: string) => Deno.writeTextFile(`${folder}/${ANNOTATIONS}`, text);
}

const BOMB = [
  "a: &a [x,x,x,x,x,x,x,x,x]",
  ...Array.from({ length: 9 }, (_, level) => {
    const before = level === 0 ? "a" : `b${level - 1}`;
    return `b${level}: &b${level} [${Array(9).fill(`*${before}`).join(",")}]`;
  }),
].join("\n");

const ATTACKS: Readonly<Record<string, Attack>> = {
  "a pipe to which nobody writes": {
    prepare: async (folder) => {
      assert.ok((await new Deno.Command("mkfifo", { args: [`${folder}/${ANNOTATIONS}`] }).output()).success);
    },
    code: 0,
    says: /annotations" is ignored: it is neither a file nor a folder/,
  },
  "a device without an end": {
    prepare: (folder) => Deno.symlink("/dev/zero", `${folder}/${ANNOTATIONS}`),
    code: 0,
    says: /annotations" is ignored: it is neither a file nor a folder/,
  },
  "a folder in place of a file": {
    prepare: (folder) => Deno.mkdir(`${folder}/${ANNOTATIONS}`),
    code: 0,
    says: /annotations" is ignored: .*it is a directory/,
  },
  "a link to itself": {
    prepare: (folder) => Deno.symlink("annotations", `${folder}/${ANNOTATIONS}`),
    code: 0,
    says: /annotations" is ignored: .*too many levels of symbolic links/,
  },
  "a file of 300 MB": {
    prepare: async (folder) => {
      await annotations("")(folder);
      await Deno.truncate(`${folder}/${ANNOTATIONS}`, 300_000_000);
    },
    code: 0,
    says: /annotations" is ignored: .*is larger than \d+ bytes/,
  },
  "an annotation of 2 MB of spaces": { prepare: annotations(`a="${" ".repeat(2_000_000)}b"\n`), code: 0, says: /^$/ },
  "an annotation of 100,000 brackets": {
    prepare: annotations(`proxy.istio.io/config="${"[".repeat(100_000)}"\n`),
    code: 1,
    says: /^error: annotation proxy\.istio\.io\/config: .*nested more than 100 deep/,
  },
  "PROXY_CONFIG with a value of spaces": {
    env: { PROXY_CONFIG: `concurrency: "${" ".repeat(LONG)}b"` },
    code: 1,
    says: /^error: PROXY_CONFIG: /,
  },
  "PROXY_CONFIG whose aliases expand": { env: { PROXY_CONFIG: BOMB }, code: 1, says: /expand to too many nodes/ },
  "probers of 100,000 brackets": {
    env: { ISTIO_KUBE_APP_PROBERS: "[".repeat(100_000) },
    code: 1,
    says: /^error: "ISTIO_KUBE_APP_PROBERS"/,
  },
  "metrics settings of spaces": {
    env: { ISTIO_PROMETHEUS_ANNOTATIONS: `{"scrape":"true","port":"${" ".repeat(LONG)}b"}` },
    code: 1,
    says: /^error: "ISTIO_PROMETHEUS_ANNOTATIONS"/,
  },
};

/** Each case takes less than a second. */
const LIMIT = 20_000;

for (const [title, { prepare, env = {}, code, says }] of Object.entries(ATTACKS)) {
  Deno.test(`the agent does not hang on ${title}`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "mesh-agent-" });
    try {
      await Deno.mkdir(`${folder}/etc/istio/pod`, { recursive: true });
      await Deno.mkdir(`${folder}/etc/istio/proxy`, { recursive: true });
      await prepare?.(folder);
      const pod = { POD_NAME: "a", POD_NAMESPACE: "b", INSTANCE_IP: "10.0.0.1" };
      const run = runMesh(["agent", "bootstrap"], { cwd: folder, env: { ...pod, ...env } });
      const { promise: late, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(new Error("it hangs")), LIMIT);
      const ended = await Promise.race([run, late]).finally(() => clearTimeout(timer));
      assert.match(ended.stderr, says);
      assert.equal(ended.code, code);
      if (code === 0) assert.equal(typeof JSON.parse(ended.stdout), "object");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
