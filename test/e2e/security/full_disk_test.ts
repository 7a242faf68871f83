/**
 * Commands that write a file, on a disk that is full or has one page left: each prints an error, keeps the old files,
 * and leaves no partial file. The agent's files: test/e2e/faults/agent_machine_test.ts.
 */
import assert from "node:assert/strict";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { createNamespace } from "../support/cluster/requests.ts";
import { apply } from "../support/webhook.ts";

const EXAMPLE = decodeURIComponent(new URL("../../../examples/helloworld.yaml", import.meta.url).pathname);

/** Free bytes: none, or too few for any output. */
const FREE = { "is full": 0, "has one page left": 4096 } as const;

const PAGE = 4096;

interface Written {
  /** Arguments; `DISK` is the folder. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The output fits in one page, so that only a full disk makes the command fail. */
  readonly isSmall?: boolean;
}

const COMMANDS: Readonly<Record<string, Written>> = {
  "inject -o FILE": { args: ["inject", "-f", EXAMPLE, "-o", "DISK/out.yaml", "--report", "none"] },
  "inject -o over a file": { args: ["inject", "-f", EXAMPLE, "-o", "DISK/old.yaml", "--report", "none"] },
  "inject -o FOLDER": { args: ["inject", "-f", EXAMPLE, "-o", "DISK/folder/", "--report", "none"] },
  "inject -i": { args: ["inject", "-i", "-f", "DISK/old.yaml", "--report", "none"] },
  "inject --diff=external": {
    args: ["inject", "-f", EXAMPLE, "--diff=external", "--report", "none"],
    env: { TMPDIR: "DISK" },
  },
  "completion install-kubectl": { args: ["completion", "install-kubectl", "--dir", "DISK/folder"], isSmall: true },
  "iptables generate with DRY_RUN_FILE_PATH": {
    args: ["iptables", "generate"],
    env: { DRY_RUN_FILE_PATH: "DISK/rules" },
    isSmall: true,
  },
};

/** Fills the disk up to some bytes, runs a command, prints its error and all files with their sums. */
const SCRIPT = `set -e
mount -t tmpfs -o size=64k,mode=777 tmpfs "$1"; mkdir "$1/folder"; cp "$2" "$1/old.yaml"
dd if=/dev/zero of="$1/fill" bs=${PAGE} 2>/dev/null || true
truncate -s "-$3" "$1/fill"
cd "$1"; find . -type f | sort | xargs sha256sum >&3
shift 3
set +e; "$@" >/dev/null; code=$?; set -e
find . -type f | sort | xargs sha256sum >&4
exit $code`;

interface Result {
  readonly code: number;
  readonly stderr: string;
  readonly before: string;
  readonly after: string;
}

async function onDisk(free: number, { args, env = {} }: Written): Promise<Result> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-full-" });
  try {
    const disk = `${folder}/disk`;
    await Deno.mkdir(disk);
    const placed = (text: string) => text.replaceAll("DISK", disk);
    const shell = ["sh", "-c", `exec 3>"$0/before" 4>"$0/after"\n${SCRIPT}`, folder, disk, EXAMPLE, String(free)];
    const { code, stderr } = await new Deno.Command("unshare", {
      args: ["-m", ...shell, MESH_COMMAND, ...args.map(placed)],
      env: {
        KUBECONFIG: "/nonexistent",
        ...Object.fromEntries(Object.entries(env).map(([name, text]) => [name, placed(text)])),
      },
      stdout: "null",
      stderr: "piped",
    }).output();
    const [before = "", after = ""] = await Promise.all(
      ["before", "after"].map((name) => Deno.readTextFile(`${folder}/${name}`)),
    );
    return { code, stderr: new TextDecoder().decode(stderr), before, after };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const missing = Deno.uid() === 0 ? needsProgram("unshare") : "mounts need root";

for (const [state, free] of Object.entries(FREE)) {
  for (const [title, written] of Object.entries(COMMANDS)) {
    if (free > 0 && written.isSmall === true) continue;
    testWhen(missing, `${title} on a disk that ${state} writes nothing`, async () => {
      fails(await onDisk(free, written), title.includes("--diff") ? 2 : 1);
    });
  }
}

function fails({ code, stderr, before, after }: Result, expected = 1): void {
  assert.equal(code, expected, stderr);
  assert.match(stderr, /^error: Cannot write ".*": no space left on device(?:;.*)?$/m);
  assert.notEqual(before, "");
  assert.equal(after, before);
}

testWhen(missing ?? needsCluster(), "config snapshot on a full disk writes nothing", async () => {
  const cluster = await startCluster();
  try {
    await createNamespace(cluster, "istio-system");
    const { config, values, mesh } = BUILT_IN;
    for (const [name, data] of Object.entries({ "istio-sidecar-injector": { config, values }, "istio": { mesh } })) {
      await apply(cluster, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: "istio-system" },
        data,
      });
    }
    const args = ["config", "snapshot", "--kubeconfig", cluster.kubeconfig, "-o", "DISK/snapshot.yaml"];
    for (const free of Object.values(FREE)) fails(await onDisk(free, { args }));
  } finally {
    await cluster.stop();
  }
});
