/** SIGKILL at any moment: the output is the old file or the new one, never a part. `MESH_LONG=1` kills 100 times. */
import assert from "node:assert/strict";
import { isLong } from "../../support/long.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

const KILLS = isLong() ? 100 : 6;
const DOCUMENTS = 30;
/** Time from the end of the input to the end of the program, about: half of the kills are then. */
const LAST_STEPS = 60;

const encoder = new TextEncoder();

function deployment(index: number): string {
  const pod = `{metadata: {labels: {app: d${index}}}, spec: {containers: [{name: a, image: b}]}}`;
  return `---\nkind: Deployment\nmetadata: {name: d${index}}\nspec: {template: ${pod}}\n`;
}

const INPUT = Array.from({ length: DOCUMENTS }, (_, index) => encoder.encode(deployment(index)));

Deno.test(`inject -o FILE: after SIGKILL at ${KILLS} moments the file is old or new`, async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/web.yaml`;
  await Deno.writeTextFile(file, "old");
  const { code } = await killed(folder.path, file, undefined);
  assert.equal(code, 0);
  const whole = await Deno.readTextFile(file);
  const seen = { old: 0, new: 0 };
  for (let kill = 0; kill < KILLS; kill++) {
    await Deno.writeTextFile(file, "old");
    // Every second one is killed before its input ends, at another document each time.
    const documents = kill % 2 === 0 ? Math.floor(DOCUMENTS * kill / KILLS) : DOCUMENTS;
    await killed(folder.path, file, { documents, milliseconds: LAST_STEPS * Math.random() });
    const text = await Deno.readTextFile(file);
    assert.ok(text === "old" || text === whole, `the file is neither old nor new but has ${text.length} characters`);
    seen[text === "old" ? "old" : "new"]++;
  }
  // deno-lint-ignore no-console -- the figures of docs/reliability.md
  console.info(`${KILLS} kills: the file is old after ${seen.old}, new after ${seen.new}`);
  assert.ok(seen.old > 0, "no kill came before the end");
});

interface Moment {
  readonly documents: number;
  readonly milliseconds: number;
}

/** Runs `inject` to its end, or kills it at a moment. */
async function killed(temporary: string, file: string, moment: Moment | undefined): Promise<Deno.CommandStatus> {
  const child = new Deno.Command(MESH_COMMAND, {
    args: ["inject", "-f", "-", "--report", "none", "-o", file],
    env: { TMPDIR: temporary, KUBECONFIG: "/nonexistent" },
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  for (const document of INPUT.slice(0, moment?.documents)) await writer.write(document);
  if (moment === undefined || moment.documents === DOCUMENTS) await writer.close();
  if (moment !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, moment.milliseconds));
    kill(child);
  }
  const status = await child.status;
  await writer.close().catch(() => {});
  return status;
}

/** It may have ended before. */
function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
