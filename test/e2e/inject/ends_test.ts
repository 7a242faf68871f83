/** `inject` leaves neither a temporary file nor a half-written output, however it ends. */
import assert from "node:assert/strict";
import { isLong } from "../../support/long.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { until } from "../../support/until.ts";

const ROUNDS = isLong() ? 50 : 2;
/** More than `inject` holds in memory, so that it uses its temporary file. */
const DOCUMENT = new TextEncoder().encode(
  "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: " + "x".repeat(60_000) + "\n",
);
const DOCUMENTS = 400;

const ENDS = [["SIGHUP", 129], ["SIGINT", 130], ["SIGQUIT", 131], ["SIGTERM", 143]] as const;

for (const [signal, expected] of ENDS) {
  for (const output of ["standard output", "a file"] as const) {
    Deno.test(`inject to ${output} leaves nothing when ${signal} ends it`, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { code, left, written } = await ended(output, (child) => child.kill(signal));
        assert.deepEqual({ code, left, written }, { code: expected, left: [], written: "old" });
      }
    });
  }
}

Deno.test("inject leaves nothing when the reader of its output goes", async () => {
  const { code, left } = await ended("standard output", async (child, writer) => {
    await child.stdout.cancel();
    await writer.close();
  });
  assert.deepEqual({ code, left }, { code: 141, left: [] });
});

Deno.test("inject leaves nothing after an error", async () => {
  const { code, left, written } = await ended("a file", async (_, writer) => {
    await writer.write(new TextEncoder().encode("---\na: [\n"));
    await writer.close();
  });
  assert.deepEqual({ code, left, written }, { code: 1, left: [], written: "old" });
});

type End = (child: Deno.ChildProcess, writer: WritableStreamDefaultWriter<Uint8Array>) => void | Promise<void>;

/** Gives it documents until it holds some, then ends it. Returns its exit code and what is in its folders. */
async function ended(output: "standard output" | "a file", end: End) {
  await using folder = await temporaryFolder();
  const [temporary, out] = [`${folder.path}/tmp`, `${folder.path}/out`];
  await Promise.all([temporary, out].map((path) => Deno.mkdir(path)));
  await Deno.writeTextFile(`${out}/web.yaml`, "old");
  const child = new Deno.Command(MESH_COMMAND, {
    args: ["inject", "-f", "-", "--report", "none", ...output === "a file" ? ["-o", `${out}/web.yaml`] : []],
    env: { TMPDIR: temporary, KUBECONFIG: "/nonexistent" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  const ends = (async () => {
    for (let n = 0; n < DOCUMENTS; n++) await writer.write(DOCUMENT);
    if (output === "a file") await until(() => entries(out) === 2, "It never wrote beside its output");
    await end(child, writer);
  })();
  const { code } = await child.status;
  await ends.catch(() => {});
  await writer.close().catch(() => {});
  await child.stdout.cancel().catch(() => {});
  const left = await Array.fromAsync(Deno.readDir(temporary), ({ name }) => name);
  const beside = await Array.fromAsync(Deno.readDir(out), ({ name }) => name);
  return {
    code,
    left: [...left, ...beside.filter((name) => name !== "web.yaml")],
    written: await Deno.readTextFile(`${out}/web.yaml`),
  };
}

function entries(folder: string): number {
  return [...Deno.readDirSync(folder)].length;
}
