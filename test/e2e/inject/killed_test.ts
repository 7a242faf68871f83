/** SIGKILL at any moment: the output is the old file or the new one, never a part. A long run kills 100 times. */
import assert from "node:assert/strict";
import { isLong } from "../../support/long.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { until } from "../../support/until.ts";

const KILLS = isLong() ? 100 : 6;
const DOCUMENTS = 30;

const encoder = new TextEncoder();

function deployment(index: number): string {
  const pod = `{metadata: {labels: {app: d${index}}}, spec: {containers: [{name: a, image: b}]}}`;
  return `---\nkind: Deployment\nmetadata: {name: d${index}}\nspec: {template: ${pod}}\n`;
}

const INPUT = Array.from({ length: DOCUMENTS }, (_, index) => encoder.encode(deployment(index)));

Deno.test(`inject -o FILE: after SIGKILL at ${KILLS} moments the file is old or new`, async (t) => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/web.yaml`;
  await Deno.writeTextFile(file, "old");
  // The time from the first byte to the end, which the moments are in.
  const span = await run(folder.path, { documents: DOCUMENTS, milliseconds: undefined });
  const whole = await Deno.readTextFile(file);
  assert.match(whole, /istio-proxy/);
  const seen = { old: 0, new: 0 };
  let stale = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    await Deno.writeTextFile(file, "old");
    // Every third one is killed before its input ends.
    const documents = kill % 3 === 0 ? Math.floor(DOCUMENTS * Math.random()) : DOCUMENTS;
    await run(folder.path, { documents, milliseconds: 1.3 * span * Math.random() });
    const text = await Deno.readTextFile(file);
    assert.ok(text === "old" || text === whole, `the file is neither old nor new but has ${text.length} characters`);
    seen[text === "old" ? "old" : "new"]++;
    stale += temporaries(folder.path).length;
  }
  await t.step(`${KILLS} kills: the file is old after ${seen.old}, new after ${seen.new}; ${stale} left a file`, () => {
    assert.ok(seen.old > 0, "no kill came before the end");
    assert.ok(stale > 0, "no kill left a file");
  });
  await run(folder.path, { documents: DOCUMENTS, milliseconds: undefined });
  assert.deepEqual(temporaries(folder.path), []);
});

Deno.test("inject -o FILE: a run leaves the temporary file of another one alone", async () => {
  await using folder = await temporaryFolder();
  const first = startInject(folder.path);
  const writer = first.stdin.getWriter();
  await until(() => temporaries(folder.path).length > 0, "It never began to write");
  const held = temporaries(folder.path);
  await run(folder.path, { documents: DOCUMENTS, milliseconds: undefined });
  assert.deepEqual(temporaries(folder.path), held);
  await writer.write(INPUT[0] ?? new Uint8Array());
  await writer.close();
  assert.equal((await first.status).code, 0);
  assert.deepEqual(temporaries(folder.path), []);
  assert.match(await Deno.readTextFile(`${folder.path}/web.yaml`), /d0/);
});

Deno.test(`inject -i: after SIGKILL at ${KILLS} moments each file is old or new`, async (t) => {
  const names = ["a.yaml", "b.yaml", "c.yaml"];
  const old = Array.from({ length: DOCUMENTS }, (_, index) => deployment(index)).join("");
  await using folder = await temporaryFolder();
  const write = () => Promise.all(names.map((name) => Deno.writeTextFile(`${folder.path}/${name}`, old)));
  await write();
  const span = await runInPlace(folder.path, undefined);
  const whole = await Deno.readTextFile(`${folder.path}/a.yaml`);
  assert.match(whole, /istio-proxy/);
  const seen = { old: 0, new: 0 };
  for (let kill = 0; kill < KILLS; kill++) {
    await write();
    // Most of a run reads: the end is where files are written. The first run may have been slower than these by other work.
    await runInPlace(folder.path, span * (kill % 2 === 0 ? 0.8 + 0.3 * Math.random() : Math.random() / 2));
    for (const name of names) {
      const text = await Deno.readTextFile(`${folder.path}/${name}`);
      assert.ok(text === old || text === whole, `${name} is neither old nor new but has ${text.length} characters`);
      seen[text === old ? "old" : "new"]++;
    }
  }
  await t.step(`${KILLS} kills: files are old ${seen.old} times, new ${seen.new} times`, () => {
    assert.ok(seen.old > 0, "no kill came before the end");
  });
  await write();
  await runInPlace(folder.path, undefined);
  assert.deepEqual(entries(folder.path), names);
});

/** Runs `inject -i` on a folder to its end, or kills it after some milliseconds; returns how long it ran. */
async function runInPlace(folder: string, milliseconds: number | undefined): Promise<number> {
  const start = performance.now();
  const child = new Deno.Command(MESH_COMMAND, {
    args: ["inject", "-i", "-f", folder, "--report", "none"],
    env: { KUBECONFIG: "/nonexistent" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const timer = milliseconds === undefined ? undefined : setTimeout(() => kill(child), milliseconds);
  await child.status;
  clearTimeout(timer);
  return performance.now() - start;
}

interface Moment {
  /** Documents that it reads; with all of them its input ends. */
  readonly documents: number;
  /** When it is killed, after it began to write; `undefined`: never. */
  readonly milliseconds: number | undefined;
}

/** Runs `inject` to its end, or kills it at a moment; returns the milliseconds since it began to write. */
async function run(folder: string, { documents, milliseconds }: Moment): Promise<number> {
  const before = temporaries(folder);
  const child = startInject(folder);
  const writer = child.stdin.getWriter();
  await until(() => temporaries(folder).some((name) => !before.includes(name)), "It never began to write");
  const start = performance.now();
  for (const document of INPUT.slice(0, documents)) await writer.write(document);
  if (documents === DOCUMENTS) await writer.close();
  if (milliseconds !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    kill(child);
  }
  await child.status;
  const span = performance.now() - start;
  await writer.close().catch(() => {});
  return span;
}

function startInject(folder: string): Deno.ChildProcess {
  return new Deno.Command(MESH_COMMAND, {
    args: ["inject", "-f", "-", "--report", "none", "-o", `${folder}/web.yaml`],
    env: { KUBECONFIG: "/nonexistent" },
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

/** The new file is beside the old one until it is whole. */
function temporaries(folder: string): string[] {
  return entries(folder).filter((name) => name.startsWith("kubectl-mesh-"));
}

function entries(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

/** It may have ended before. */
function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
