import assert from "node:assert/strict";
import type { RunResult } from "../../platform/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { connect } from "./connect.ts";

const CA = btoa("-----BEGIN CERTIFICATE-----");

const CONFIG = `clusters: [{name: c, cluster: {server: "https://c.test", certificate-authority-data: ${CA}}}]
users:
- name: u
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sign-in, provideClusterInfo: true}}
- name: asks
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sign-in, interactiveMode: Always}}
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;

const OBJECT = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}';

function worldWith(results: RunResult[]) {
  const tokens: (string | null)[] = [];
  const world = fakeWorld({
    files: { k: CONFIG },
    run: () => results.shift() ?? ended(1, "", "no more"),
    request(_url, init) {
      const token = new Headers(init?.headers).get("authorization");
      tokens.push(token);
      return new Response(OBJECT, { status: token === "Bearer stale" ? 401 : 200 });
    },
  });
  return { world, tokens };
}

function ended(code: number, stdout: string, stderr = ""): RunResult {
  return { code, stdout, stderr, timedOut: false };
}

function credential(status: object): RunResult {
  return ended(0, JSON.stringify({ kind: "ExecCredential", status }));
}

Deno.test("a plugin gets the cluster and runs once for many requests", async () => {
  const { world, tokens } = worldWith([credential({ token: "t", expirationTimestamp: "2030-01-01T00:00:00Z" })]);
  const api = await connect(world, { kubeconfig: "k" });
  await Promise.all([api.get("/x"), api.get("/x")]);
  await api.get("/x");
  assert.deepEqual(tokens, Array(3).fill("Bearer t"));
  const info = JSON.parse(world.runs[0]?.env?.["KUBERNETES_EXEC_INFO"] ?? "");
  assert.equal(info.kind, "ExecCredential");
  assert.deepEqual([info.spec.cluster.server, info.spec.cluster["certificate-authority-data"]], [
    "https://c.test",
    CA,
  ]);
});

Deno.test("a plugin runs again after its token expired or was refused", async () => {
  const expired = credential({ token: "t1", expirationTimestamp: "2026-01-02T03:04:10Z" });
  const { world, tokens } = worldWith([expired, credential({ token: "stale" }), credential({ token: "t3" })]);
  const api = await connect(world, { kubeconfig: "k" });
  await api.get("/x");
  await api.get("/x");
  assert.deepEqual(tokens, ["Bearer t1", "Bearer stale", "Bearer t3"]);
  assert.equal(world.runs.length, 3);
});

const FAILURES: readonly (readonly [result: RunResult, message: RegExp])[] = [
  [ended(127, ""), /^The credential plugin "sign-in" is not installed$/],
  [ended(3, "", "sign in\nfirst"), /^The credential plugin "sign-in" failed with exit code 3: sign in; first$/],
  [ended(0, "hello"), /^The credential plugin "sign-in" printed neither a token nor a certificate with its key$/],
  [credential({ clientCertificateData: "x" }), /printed neither/],
];

Deno.test("a plugin failure is reported, and the next request retries", async () => {
  for (const [result, message] of FAILURES) {
    const { world } = worldWith([result, credential({ token: "t" })]);
    const api = await connect(world, { kubeconfig: "k" });
    await assert.rejects(api.get("/x"), { name: "MeshError", message });
    assert.equal((await api.get("/x"))?.kind, "Pod");
  }
});

Deno.test("an interactive plugin is not started without a terminal", async () => {
  const { world } = worldWith([]);
  const api = await connect({ ...world, stdin: { isTerminal: false, chunks: world.stdin.chunks } }, {
    kubeconfig: "k",
    user: "asks",
  });
  await assert.rejects(api.get("/x"), { message: /needs a terminal to ask for credentials$/ });
  assert.deepEqual(world.runs, []);
});
