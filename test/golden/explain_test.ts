/** Requests that a real Envoy was asked, replayed: recorded by `UPDATE=1 ... test/e2e/explain/routing_test.ts`. */
import assert from "node:assert/strict";
import { re2Library } from "../../src/golang/re2.ts";
import { fakeWorld, realWorld } from "../../src/platform/mod.ts";
import { readArchive, writeArchive } from "../../src/explain/snapshot/archive.ts";
import { readFolder } from "../../src/explain/snapshot/read_saved.ts";
import { factsOf } from "../../src/explain/connection/facts.ts";
import { disagreements, type Recorded } from "../support/explain_requests.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { sayMesh } from "../support/programs/mesh.ts";
import { needsShared, SHARED, testWhen } from "../support/test_when.ts";

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
  await writeArchive(realWorld(), snapshot, { path, program: "1" });
  return factsOf(await readArchive(realWorld(), path));
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

interface Shared {
  readonly request: {
    readonly kind: "http" | "tcp" | "tls";
    readonly ip: string;
    readonly port: number;
    readonly host: string;
    readonly path?: string;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly sni?: string;
  };
  readonly want: { readonly route: string; readonly cluster: string; readonly endpoint: string };
}

testWhen(needsShared("cases/explain"), "explain -f agrees with the shared cases, as a command", async (t) => {
  const cases: Shared[] = JSON.parse(await Deno.readTextFile(`${SHARED}/cases/explain/requests.json`));
  // Each is a process: some of every kind; replay_explain.py asks all.
  for (const { request, want } of cases.filter((_, index) => index % 4 === 0)) {
    await t.step(`${request.kind} ${request.host}:${request.port}${request.path ?? ""}`, async () => {
      const headers = Object.entries({ ...request.kind === "http" ? { Host: request.host } : {}, ...request.headers });
      const { stdout } = await sayMesh([
        ...["explain", "-f", `${SHARED}/cases/explain/pod-a`, "-o", "json"],
        ...["--to", `${request.ip}:${request.port}${request.path ?? ""}`],
        ...request.method === undefined ? [] : ["--method", request.method],
        ...headers.flatMap(([name, value]) => ["--header", `${name}:${value}`]),
        ...request.sni === undefined ? [] : ["--sni", request.sni],
      ]);
      const answer = JSON.parse(stdout);
      const clusters = answer.clusters.map(({ name }: { name: string }) => name);
      assert.ok(want.cluster === "-" ? clusters.length === 0 : clusters.includes(want.cluster), String(clusters));
      const endpoints = answer.endpoints.map(({ address }: { address: string }) => address);
      assert.ok(want.endpoint === "-" || endpoints.includes(want.endpoint), String(endpoints));
    });
  }
});
