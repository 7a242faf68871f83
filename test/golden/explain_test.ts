/** Requests that a real Envoy was asked, replayed: recorded by `UPDATE=1 ... test/e2e/explain/routing_test.ts`. */
import assert from "node:assert/strict";
import { re2Library } from "../../src/golang/re2.ts";
import { realWorld } from "../../src/platform/mod.ts";
import { fakeWorld } from "../support/fake_world.ts";
import { readArchive, writeArchive } from "../../src/explain/snapshot/archive.ts";
import { readFolder } from "../../src/explain/snapshot/read_saved.ts";
import { factsOf } from "../../src/explain/connection/facts.ts";
import { disagreements, type Recorded, type Sent } from "../support/explain_requests.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { sayMesh } from "../support/programs/mesh.ts";
import { testShared } from "../support/test_when.ts";

const FOLDER = decodeURIComponent(new URL("./explain/", import.meta.url).pathname);

/** The recorded pod; from an archive, whose secrets are taken out, as `explain -f` reads it. */
async function recordedFacts(isArchive: boolean) {
  const names = await Array.fromAsync(Deno.readDir(`${FOLDER}snapshot`), ({ name }) => name);
  const files = await Promise.all(
    names.map(async (name) => [`/snapshot/${name}`, await Deno.readTextFile(`${FOLDER}snapshot/${name}`)] as const),
  );
  await re2Library.loaded();
  const snapshot = await readFolder(fakeWorld({ files: Object.fromEntries(files) }), "/snapshot");
  if (!isArchive) return factsOf(snapshot);
  await using folder = await temporaryFolder();
  const path = `${folder.path}/web.tar.gz`;
  const snapshots = ReadableStream.from([snapshot]);
  await writeArchive(realWorld(), snapshots, { path, program: "1", isMany: false, written: () => {} });
  const [read] = await readArchive(realWorld(), path);
  assert.ok(read !== undefined);
  return factsOf(read);
}

for (const isArchive of [false, true]) {
  const from = isArchive ? "an archive" : "a folder";
  Deno.test(`explain agrees with the recorded access log on every request, from ${from}`, async () => {
    const facts = await recordedFacts(isArchive);
    const recorded: Recorded[] = JSON.parse(await Deno.readTextFile(`${FOLDER}requests.json`));
    assert.ok(recorded.length >= 200);
    const found = recorded.flatMap((each) => disagreements(facts, each));
    // A policy asks for the header x-token, whose value is a secret.
    const unknown = found.filter((text) => /: verdict unknown\n.* header x-token is "\[redacted\]"/.test(text));
    assert.deepEqual([found.filter((text) => !unknown.includes(text)), unknown.length], [[], isArchive ? 1 : 0]);
  });
}

/** A request of the shared cases, and what Envoy's access log says of it. `-` is none. */
interface SharedCase {
  readonly request: Sent;
  readonly want: { readonly cluster: string; readonly endpoint: string };
}

/** Asks the command, and compares the cluster and the endpoint. */
async function checkCommand(folder: string, sent: Sent, cluster: string | null, endpoint: string | null): Promise<void> {
  const { kind, ip, port, host = "", path = "", method, sni } = sent;
  const headers = Object.entries({ ...kind === "http" ? { Host: host } : {}, ...sent.headers });
  const { stdout } = await sayMesh([
    ...["explain", "-f", folder, "-o", "json"],
    ...["--to", `${ip}:${port}${path}`],
    ...method === undefined ? [] : ["--method", method],
    ...headers.flatMap(([name, value]) => ["--header", `${name}:${value}`]),
    ...sni === undefined ? [] : ["--sni", sni],
  ]);
  const answer = JSON.parse(stdout);
  const clusters: string[] = answer.clusters.map(({ name }: { name: string }) => name);
  assert.ok(cluster === null ? clusters.length === 0 : clusters.includes(cluster), String(clusters));
  const endpoints: string[] = answer.endpoints.map(({ address }: { address: string }) => address);
  assert.ok(endpoint === null || endpoints.includes(endpoint), String(endpoints));
}

/** Some of every kind: the other test asks about all. */
const some = (_: unknown, index: number) => index % 4 === 0;

Deno.test("explain -f agrees with the recorded access log, as a command", async (t) => {
  const recorded: Recorded[] = JSON.parse(await Deno.readTextFile(`${FOLDER}requests.json`));
  for (const { sent, line } of recorded.filter(({ sent }) => sent.from === "application").filter(some)) {
    const name = `${sent.kind} ${sent.host ?? sent.sni ?? sent.ip}:${sent.port}${sent.path ?? ""}`;
    await t.step(name, () => checkCommand(`${FOLDER}snapshot`, sent, line.cluster, line.host));
  }
});

testShared("cases/explain", "explain -f agrees with the shared cases, as a command", async (folder, t) => {
  const cases: SharedCase[] = JSON.parse(await Deno.readTextFile(`${folder}/requests.json`));
  const given = (text: string) => text === "-" ? null : text;
  for (const { request, want } of cases.filter(some)) {
    const name = `${request.kind} ${request.host}:${request.port}${request.path ?? ""}`;
    await t.step(name, () => checkCommand(`${folder}/pod-a`, request, given(want.cluster), given(want.endpoint)));
  }
});
