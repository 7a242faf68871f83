/** A full disk is a clear error: the old file stays, and nothing is left behind. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";

const missing = Deno.uid() === 0 ? needsProgram("unshare") : "it needs root for a file system of its own";

/** Documents that come out as they are, so that only their size counts. */
const DOCUMENT = `---\nkind: ConfigMap\ndata:\n  a: ${"x".repeat(60_000)}\n`;

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a script in a mount namespace with a small file system on the folder `$1`; `$2` is the program and `$3` its input.
 */
async function onSmallDisk(script: string, { documents, disk }: { documents: number; disk: string }): Promise<Ran> {
  await using folder = await temporaryFolder();
  const [small, input] = [`${folder.path}/small`, `${folder.path}/input.yaml`];
  await Deno.mkdir(small);
  await Deno.writeTextFile(input, DOCUMENT.repeat(documents));
  const mount = `mount -t tmpfs -o size=${disk} none "$1"`;
  const { code, stdout, stderr } = await new Deno.Command("unshare", {
    args: ["--mount", "sh", "-c", `${mount} && ${script}`, "sh", small, MESH_COMMAND, input],
    env: { KUBECONFIG: "/nonexistent" },
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

testWhen(missing, "inject -o FILE on a full disk keeps the old file, and says why", async () => {
  const script = 'echo old > "$1/web.yaml"; "$2" inject -f "$3" --report none -o "$1/web.yaml"; ' +
    'echo "code $?"; ls -A "$1"; cat "$1/web.yaml"';
  const { stdout, stderr } = await onSmallDisk(script, { documents: 20, disk: "400k" });
  assert.equal(stdout, "code 1\nweb.yaml\nold\n");
  assert.match(stderr, /^error: Cannot write ".*web\.yaml": .*[Nn]o space left on device/m);
});

testWhen(missing, "inject with a full temporary folder writes nothing, and says why", async () => {
  const script = 'TMPDIR="$1" "$2" inject -f "$3" --report none > "$3.out"; ' +
    'echo "code $?"; ls -A "$1"; wc -c < "$3.out"';
  const { stdout, stderr } = await onSmallDisk(script, { documents: 1_300, disk: "4m" });
  assert.equal(stdout, "code 1\n0\n");
  assert.match(stderr, /^error: Cannot write .*[Nn]o space left on device/m);
});
