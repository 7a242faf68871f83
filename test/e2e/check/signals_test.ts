/** `check` that a signal ends leaves nothing in the folder for temporary files, whenever the signal comes. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testCertificate } from "../../support/tls/certificates.ts";

/** When the signal comes: the connection is there, or the first request is in flight. */
const MOMENTS = ["connected", "asked"] as const;
const SIGNALS = [["SIGINT", 130], ["SIGTERM", 143]] as const;
/** A folder that is there for a moment only is not met each time. */
const ROUNDS = 8;

for (const [signal, expected] of SIGNALS) {
  for (const moment of MOMENTS) {
    Deno.test(`check leaves nothing: ${signal} when it is ${moment}, verification skipped`, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { code, left } = await interrupted(moment, signal);
        assert.deepEqual([code, left], [expected, []]);
      }
    });
  }
}

/** Runs it against a server that never answers. Returns its exit code and what is left. */
async function interrupted(moment: typeof MOMENTS[number], signal: Deno.Signal) {
  const folder = await Deno.makeTempDir();
  const temporary = `${folder}/tmp`;
  await Deno.mkdir(temporary);
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
  const left = await Array.fromAsync(Deno.readDir(temporary), ({ name }) => name);
  await Deno.remove(folder, { recursive: true });
  return { code, left };
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
