/** `check` that a signal ends leaves nothing in the folder for temporary files, whenever the signal comes. */
import assert from "node:assert/strict";
import { isLong } from "../../support/long.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testCertificate } from "../../support/tls/certificates.ts";

/** When the signal comes: the connection is there, or the first request is in flight. */
const MOMENTS = ["connected", "asked"] as const;
const SIGNALS = [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const;
/** A folder that is there for a moment only is not met each time. */
const ROUNDS = isLong() ? 200 : 3;

for (const [signal, expected] of SIGNALS) {
  for (const moment of MOMENTS) {
    Deno.test(`check leaves nothing: ${signal} when it is ${moment}, verification skipped`, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        await using folder = await temporaryFolder();
        assert.equal(await interrupted(folder.path, moment, signal), expected);
        assert.deepEqual(await leftIn(folder.path), []);
      }
    });
  }
}

Deno.test("check removes what a killed check left", async () => {
  await using folder = await temporaryFolder();
  for (let round = 0; round < ROUNDS; round++) await interrupted(folder.path, "connected", "SIGKILL");
  // A folder of a process that has ended.
  await Deno.mkdir(`${folder.path}/tmp/kubectl-mesh-${await thisNamespace()}-4194999-1-a1`, { mode: 0o700 });
  assert.equal(await interrupted(folder.path, "asked", "SIGTERM"), 143);
  assert.deepEqual(await leftIn(folder.path), []);
});

/** The namespace of process ids, as in names of temporary files. */
async function thisNamespace(): Promise<string> {
  const [id = ""] = /\d+/.exec(await Deno.readLink("/proc/self/ns/pid")) ?? [];
  return BigInt(id).toString(36);
}

async function leftIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(`${folder}/tmp`), ({ name }) => name)).sort();
}

/** Runs it against a server that never answers, with `tmp` in this folder for temporary files. Returns its exit code. */
async function interrupted(folder: string, moment: typeof MOMENTS[number], signal: Deno.Signal): Promise<number> {
  const temporary = `${folder}/tmp`;
  await Deno.mkdir(temporary, { recursive: true });
  const { certificate, key } = testCertificate();
  using listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: certificate, key });
  const kubeconfig = `${folder}/config`;
  await Deno.writeTextFile(kubeconfig, kubeconfigOf(listener.addr.port));
  const child = new Deno.Command(MESH_COMMAND, {
    args: ["check", "--kubeconfig", kubeconfig],
    env: { TMPDIR: temporary },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  using connection = await listener.accept();
  await connection.handshake();
  if (moment === "asked") await connection.read(new Uint8Array(1));
  child.kill(signal);
  const { code } = await child.status;
  return code;
}

function kubeconfigOf(port: number): string {
  return JSON.stringify({
    "current-context": "test",
    clusters: [{
      name: "test",
      cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true },
    }],
    users: [{ name: "test", user: {} }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  });
}
