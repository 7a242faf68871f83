/** Behavior that only a process shows: closed pipes, signals, huge inputs, special files, and kubectl. */
import assert from "node:assert/strict";
import { MESH_COMMAND, runMesh } from "../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../support/test_when.ts";

const COMMON = decodeURIComponent(new URL("./cli/common/", import.meta.url).pathname);
const INJECT = ["inject", "--inject-config", `${COMMON}small.yaml`];
const CONFIGURED = `note: Configuration: "${COMMON}small.yaml"\n`;
const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec: {containers: [{name: app, image: app}]}\n";
const MIB = 1024 * 1024;

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "mesh process " });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}

/** Runs a shell line with the program as `$MESH`. */
async function shell(line: string, cwd: string) {
  const { code, stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", line],
    cwd,
    env: { MESH: MESH_COMMAND, CONFIG: `${COMMON}small.yaml` },
    stdin: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

async function writeRepeated(path: string, parts: { head: string; body: string; bytes: number }): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  await file.write(new TextEncoder().encode(parts.head));
  const block = new TextEncoder().encode(parts.body.repeat(Math.ceil(MIB / parts.body.length)));
  for (let written = 0; written < parts.bytes; written += block.length) await file.write(block);
}

Deno.test("a closed pipe ends the program quietly, with the code of SIGPIPE", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/many.yaml`, `${POD}---\n`.repeat(3000));
    const { stdout, stderr } = await shell(
      '{ "$MESH" inject --report none --inject-config "$CONFIG" -f many.yaml; echo "code $?" >&2; } | head -1',
      folder,
    );
    assert.equal(stdout, "apiVersion: v1\n");
    assert.equal(stderr, "code 141\n");
  }));

Deno.test("a full standard output gives one error line", async () => {
  const { code, stderr } = await shell(
    '"$MESH" inject --report none --inject-config "$CONFIG" -f "${CONFIG%/*}/pod.yaml" > /dev/full',
    "/",
  );
  assert.equal(code, 1);
  assert.match(stderr, /^error: Cannot write the output: no space left on device\n$/);
});

testWhen(needsLauncher(), "a closed standard output is an error, but not where a file is written", () =>
  inFolder(async (folder) => {
    const run = (rest: string) =>
      shell(`"$MESH" inject --report none --inject-config "$CONFIG" -f "\${CONFIG%/*}/pod.yaml" ${rest}`, folder);
    const { code, stderr } = await run(">&-");
    assert.deepEqual([code, stderr], [1, "error: Cannot write the output: standard output is closed\n"]);
    assert.equal((await run("-o out.yaml >&-")).code, 0);
    assert.equal((await run("> /dev/null")).code, 0);
  }));

/** The runtime hides from a built program that a stream was closed. */
function needsLauncher(): string | undefined {
  return MESH_COMMAND.endsWith("plugin/kubectl-mesh") ? undefined : "the program is not the launcher";
}

Deno.test("a closed or full standard error changes neither output nor exit code", async () => {
  for (const redirect of ["2>&-", "2>/dev/full"]) {
    const { code, stdout } = await shell(
      `"$MESH" inject --inject-config "$CONFIG" -f "\${CONFIG%/*}/pod.yaml" ${redirect}`,
      "/",
    );
    assert.equal(code, 0);
    assert.match(stdout, /istio-proxy/);
    assert.equal((await shell(`"$MESH" inject -f nope.yaml ${redirect}`, "/")).code, 1);
  }
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test(`${signal} while a file is written keeps the old file and leaves no other`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/out.yaml`, "precious\n");
      const ended = await interrupted(["-f", "-", "-o", `${folder}/out.yaml`], signal);
      assert.deepEqual(ended, {
        code,
        stdout: "",
        stderr: `${CONFIGURED}pod/one injected\nerror: Interrupted: "${folder}/out.yaml" is not written; 1 document was read\n`,
      });
      assert.equal(await Deno.readTextFile(`${folder}/out.yaml`), "precious\n");
      assert.deepEqual(await namesIn(folder), ["out.yaml"]);
    }));
}

Deno.test("SIGINT leaves standard output empty", async () => {
  const { code, stdout, stderr } = await interrupted(["-f", "-"], "SIGINT");
  assert.deepEqual([code, stdout], [130, ""]);
  assert.equal(stderr, `${CONFIGURED}pod/one injected\nerror: Interrupted: nothing is written; 1 document was read\n`);
});

Deno.test("SIGINT counts if the input ends with it, as when the writer of a pipeline is interrupted too", async () => {
  const { code, stdout } = await interrupted(["-f", "-"], "SIGINT", true);
  assert.deepEqual([code, stdout], [130, ""]);
});

Deno.test("SIGINT with --keep-going ends the output after a whole document", async () => {
  const { code, stdout, stderr } = await interrupted(["-f", "-", "--keep-going"], "SIGINT");
  assert.equal(code, 130);
  assert.equal(stderr, `${CONFIGURED}pod/one injected\nerror: Interrupted; 1 document was read\n`);
  assert.match(stdout, /image: proxy:1.*\n$/);
});

/** Writes a document and the start of a second one, waits for the first report, and sends the signal; `endsInput` also ends the input. */
async function interrupted(args: readonly string[], signal: Deno.Signal, endsInput = false) {
  const child = new Deno.Command(MESH_COMMAND, {
    args: [...INJECT, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stdout = new Response(child.stdout).text();
  const input = child.stdin.getWriter();
  await input.write(new TextEncoder().encode(`${POD}---\nkind: Pod\nmeta`));
  const decoder = new TextDecoder();
  let stderr = "";
  for await (const chunk of child.stderr) {
    stderr += decoder.decode(chunk);
    if (stderr === `${CONFIGURED}pod/one injected\n`) {
      child.kill(signal);
      if (endsInput) await input.close();
    }
  }
  const { code } = await child.status;
  await input.abort().catch(() => {});
  return { code, stdout: await stdout, stderr };
}

Deno.test("an output file keeps its mode, and a failed output leaves no other file", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a.yaml`, POD, { mode: 0o600 });
    assert.equal((await runMesh([...INJECT, "-f", "a.yaml", "-o", "a.yaml"], { cwd: folder })).code, 0);
    assert.equal(((await Deno.stat(`${folder}/a.yaml`)).mode ?? 0) & 0o777, 0o600);
    assert.match(await Deno.readTextFile(`${folder}/a.yaml`), /istio-proxy/);
    assert.equal((await runMesh([...INJECT, "-f", "a.yaml,nope.yaml", "-o", "b.yaml"], { cwd: folder })).code, 1);
    assert.deepEqual(await namesIn(folder), ["a.yaml"]);
  }));

Deno.test("a named pipe and a process substitution are read like files", () =>
  inFolder(async (folder) => {
    const { code, stderr } = await shell(
      'mkfifo pipe && { cat "${CONFIG%/*}/pod.yaml" > pipe & } && "$MESH" inject --inject-config "$CONFIG" -f pipe > /dev/null',
      folder,
    );
    assert.deepEqual([code, stderr], [0, `${CONFIGURED}pod/one injected\n1 injected\n`]);
  }));

Deno.test("a line and a document of 100 MB fail immediately", () =>
  inFolder(async (folder) => {
    const bytes = 100 * MIB;
    await writeRepeated(`${folder}/line.yaml`, { head: 'kind: Pod\nspec: "', body: "x", bytes });
    await writeRepeated(`${folder}/document.yaml`, { head: "kind: ConfigMap\ndata:\n", body: "  key: value\n", bytes });
    const start = performance.now();
    const { code, stdout, stderr } = await runMesh([...INJECT, "-f", folder], { cwd: folder });
    assert.ok(performance.now() - start < 20_000);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.equal(
      stderr.replaceAll(folder, "."),
      CONFIGURED + 'error: ./document.yaml: document 1, line 1: A document is longer than 16 MiB; Kubernetes accepts objects of at most 3 MiB: is a "---" missing, or is this not a manifest\n' +
        "error: ./line.yaml: document 1, line 2: A line is longer than 16 MiB; is this a manifest?\n2 failed\n",
    );
  }));

testWhen(needsProgram("kubectl"), "kubectl finds the plugin and passes words, output and code on", async () => {
  const plugin = decodeURIComponent(new URL("../../plugin", import.meta.url).pathname);
  const kubectl = async (...args: string[]) => {
    const env = { PATH: `${plugin}:${Deno.env.get("PATH")}`, KUBECONFIG: "/nonexistent" };
    const { code, stdout, stderr } = await new Deno.Command("kubectl", { args, env, stdin: "null" }).output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  };
  const args = [...INJECT, "-f", `${COMMON}web.yaml`];
  const injected = await kubectl("mesh", ...args);
  assert.deepEqual(injected, await runMesh(args));
  assert.equal((await kubectl("mesh", "inject", "-f", "nope.yaml")).code, 1);
  assert.equal((await kubectl("mesh", "injct")).code, 2);
});
