/**
 * Connections that fail in a real mesh, each for one reason. `explain` names the reason with the resource and its
 * field, and its advice repairs the connection. All breakages exist at once: each has its own Service, and most have
 * their own port of the server.
 */
import assert from "node:assert/strict";
import { atOnce } from "../../../src/base/at_once.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { isLong } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { type Asked, explain, explainSaved, request, saved } from "./support/ends/asking.ts";
import type { Breakage } from "./support/ends/breakage.ts";
import { BREAKAGES, common, expected } from "./support/ends/breakages.ts";
import { EndsMesh } from "./support/ends/ends_mesh.ts";
import { curled, explainedAll, requests } from "./support/ends/hundred.ts";
import { madeOf } from "./support/ends/resources.ts";
import { missing } from "./support/mesh.ts";
import { NAMESPACE } from "./support/objects.ts";

const ALL = Object.entries(BREAKAGES);

/** Concurrent calls, for a machine with two processors. */
const AT_ONCE = 3;

// Only in long runs: the test takes two minutes, and CI runs other meshes at the same time.
const needs = needsCluster() ?? missing ?? (isLong() ? undefined : "only in `test long`");

testWhen(needs, "both ends: explain explains breakages, and its advice heals them", async (t) => {
  assert.ok(ALL.length >= 30, `${ALL.length} breakages`);
  await using mesh = await EndsMesh.create();
  await using folder = await temporaryFolder();
  await t.step("the proxies have all breakages", () => broken(mesh));
  const fixes = new Map<string, string>();
  const found = await atOnce(ALL, AT_ONCE, async ([name, breakage]) => {
    return [
      name,
      await explain(mesh, askedOf(mesh, name, breakage)),
      await answered(mesh, askedOf(mesh, name, breakage), breakage),
    ] as const;
  });
  const snapshots = await saved(mesh, folder.path);
  for (const [name, answer, status] of found) {
    await t.step(`${name}: ${answer.reason}`, async () => {
      const breakage = BREAKAGES[name] ?? assert.fail();
      fixes.set(name, answer.fix);
      assertBroken(breakage, answer, status);
      // The archive has only pods with a proxy.
      if (breakage.from !== "plain") {
        await assertAlone(breakage, await explainSaved(snapshots, askedOf(mesh, name, breakage)));
      }
    });
  }
  await t.step("the fixes heal", () => healed(mesh, fixes));
  for (const [name, breakage] of ALL) {
    const asked = {
      ...askedOf(mesh, name, breakage),
      ...breakage.healed === undefined ? {} : { flags: breakage.healed },
    };
    await t.step(`${name} is healed`, () => assertHealed(mesh, asked));
  }
  await t.step("explain says that a request reaches only if curl can send it", (t) => agrees(t, mesh, folder.path));
  await t.step("a Telemetry that Envoy refuses is named, and healed", () => refusedTelemetry(mesh));
});

/**
 * The status of a request. Repeats a request with an unexpected status: connections from before the breakage may still
 * close.
 */
async function answered(mesh: EndsMesh, asked: Asked, { status }: Breakage): Promise<number> {
  const first = await request(mesh, asked);
  return first === status || status === undefined && first !== 200 ? first : await request(mesh, asked);
}

/** Sends a hundred requests. Repeats a request whose status differs: connections of the broken mesh may still close. */
async function agrees(t: Deno.TestContext, mesh: EndsMesh, folder: string): Promise<void> {
  const urls = requests(ALL.map(([name]) => name), mesh.pods.b.address);
  const answers = await explainedAll(await saved(mesh, folder), urls);
  const codes = [...await curled(mesh, urls)];
  const isFalse = (at: number) => {
    const verdict = answers[at]?.verdict;
    return verdict === "reaches" && codes[at] !== 200 || verdict === "refused" && codes[at] === 200;
  };
  const doubtful = [...urls.keys()].filter(isFalse);
  const again = await curled(mesh, doubtful.map((at) => urls[at] ?? ""));
  doubtful.forEach((at, index) => codes[at] = again[index] ?? 0);
  assert.deepEqual(doubtful.filter(isFalse).map((at) => `${urls[at]}: ${codes[at]}, ${answers[at]?.reason}`), []);
  const count = (...verdicts: string[]) => answers.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const counts = `${urls.length} requests: ${codes.filter((code) => code === 200).length} answered; explain: ` +
    `${count("reaches")} reach, ${count("refused")} refused, ${count("unknown")} unknown`;
  await t.step(counts, () => assert.ok(urls.length >= 100 && count("reaches") >= 20 && count("refused") >= 10, counts));
}

/** With this expression Envoy rejects every listener of the pod. */
async function refusedTelemetry(mesh: EndsMesh): Promise<void> {
  const accessLogging = [{ providers: [{ name: "envoy" }], filter: { expression: "response.code >=" } }];
  const spec = { selector: { matchLabels: { app: "a" } }, accessLogging };
  await mesh.create([madeOf({ kind: "Telemetry", name: "log", spec })]);
  const asked = { from: "a", flags: ["--to", `http://deny.${NAMESPACE}:8080/`] } as const;
  let answer = await explain(mesh, asked);
  await until(
    async () => (answer = await explain(mesh, asked)).decided !== undefined,
    () => `Envoy refuses nothing: ${answer.reason}`,
  );
  assert.equal(answer.verdict, "reaches");
  assert.match(answer.reason, /Envoy rejected its newest version and keeps the previous version/);
  assert.deepEqual(answer.decided, expected(["Telemetry", "log", "spec.accessLogging[0].filter.expression"]));
  await healed(mesh, new Map([["log", answer.fix]]), [["log", {}]]);
  await until(
    async () => (answer = await explain(mesh, asked)).decided === undefined,
    () => `Envoy still refuses: ${answer.reason}`,
  );
}

function askedOf({ pods }: EndsMesh, name: string, { from = "a", asked, port }: Breakage): Asked {
  const flags = asked ?? ["--to", `http://${name}.${NAMESPACE}:8080/`];
  return { from, flags, ...port === undefined ? {} : { url: `http://${pods.b.address}:${port}/` } };
}

/** Makes all breakages, and waits until the proxies have them. */
async function broken(mesh: EndsMesh): Promise<void> {
  const { a, b, c, d } = mesh.pods;
  const at = { a: a.address, b: b.address, c: c.address, d: d.address };
  await mesh.create([...ALL.flatMap(([name, { make }]) => make(at, name)), ...common()].map(madeOf));
  const has = (name: string, status: number) => async () =>
    await request(mesh, askedOf(mesh, name, BREAKAGES[name] ?? assert.fail())) === status;
  await until(has("own-answer", 418), "The client has not got the breakages");
  await until(has("filter", 418), "The server has not got the breakages");
  await until(has("stale", 200), "The other client has not got the breakages");
  for (const [, { breaks }] of ALL) await breaks?.(mesh);
  await until(async () => !await has("stale", 200)(), "The server has not got the last change");
}

type Answered = Awaited<ReturnType<typeof explain>>;

function assertBroken({ verdict, says, decided, fix, status }: Breakage, answer: Answered, real: number): void {
  assert.equal(answer.verdict, verdict, answer.reason);
  assert.match(answer.reason, says);
  assert.deepEqual(answer.decided, decided === undefined ? undefined : expected(decided));
  assert.match(answer.fix, fix);
  if (status === undefined) assert.notEqual(real, 200);
  else assert.equal(real, status);
}

function assertAlone({ decided, alone = decided, verdict }: Breakage, answer: Answered): void {
  assert.equal(answer.verdict, verdict, answer.reason);
  assert.deepEqual(answer.decided, alone === undefined ? undefined : expected(alone));
}

/** Runs the fixes that are commands, and calls `heal` for the others. */
async function healed(
  mesh: EndsMesh,
  fixes: ReadonlyMap<string, string>,
  all: readonly (readonly [string, Pick<Breakage, "heal" | "healed" | "restore">])[] = ALL,
): Promise<void> {
  const env = { KUBECONFIG: mesh.mesh.parts.cluster.kubeconfig };
  await atOnce(all, AT_ONCE, async ([name, { heal, healed, restore }]) => {
    const [, command] = /: (kubectl .*)$/.exec(fixes.get(name) ?? "") ?? [];
    if (heal !== undefined) await heal(mesh);
    else if (healed === undefined) {
      assert.ok(command !== undefined, `${name}: the fix has no command: ${fixes.get(name)}`);
      const { success, stderr } = await new Deno.Command("sh", { args: ["-c", command], env }).output();
      assert.ok(success, `${command}: ${new TextDecoder().decode(stderr)}`);
    }
    await restore?.(mesh);
  });
}

async function assertHealed(mesh: EndsMesh, asked: Asked): Promise<void> {
  const end = performance.now() + 15_000;
  let status = 0;
  while ((status = await request(mesh, asked)) !== 200 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.equal(status, 200, "A request gets no answer after the fix");
  const { verdict, reason } = await explain(mesh, asked);
  assert.equal(verdict, asked.from === "plain" ? "bypasses" : "reaches", reason);
}
