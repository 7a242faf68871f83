/** A hundred requests, to existing and missing names and to open and closed ports. */
import assert from "node:assert/strict";
import { withOtherEnds } from "../../../../../src/explain/ends/both_ends.ts";
import { answerWith } from "../../../../../src/explain/connection/answer.ts";
import { factsOf } from "../../../../../src/explain/connection/facts.ts";
import type { Answer } from "../../../../../src/explain/answer_schema.ts";
import { readConnection } from "../../../../../src/explain/question/read_connection.ts";
import type { Snapshot } from "../../../../../src/explain/snapshot/snapshot.ts";
import { savedEnds } from "../../../../../src/explain/sources/sources.ts";
import { re2Library } from "../../../../../src/golang/re2.ts";
import { NAMESPACE } from "../objects.ts";
import type { EndsMesh } from "./ends_mesh.ts";

/** The URLs. `services`: Services that answer; `server`: the address of their pod. */
export function requests(services: readonly string[], server: string): string[] {
  const names = services.slice(0, 14).flatMap((name, at) => {
    const spelled = [
      name,
      `${name}.${NAMESPACE}`,
      `${name}.${NAMESPACE}.svc`,
      `${name}.${NAMESPACE}.svc.cluster.local`,
    ];
    const well = [spelled[at % 4], spelled[(at + 1) % 4]].map((host) => `${host}:8080`);
    const wrong = [`${name}.${NAMESPACE}:${9000 + at}`, `${name.slice(0, -1)}.${NAMESPACE}:8080`, `${name}.shop:8080`];
    return [...well, ...wrong, `${name}x:8080`];
  });
  const ports = [8080, 8081, 8089, 8095, 8092, 8096, 8097, 9999, 22].map((port) => `${server}:${port}`);
  const others = [
    "nosuch.example:443",
    "nosuch.example:80",
    "10.99.0.5:8080",
    "10.99.0.6:9090",
    "10.96.9.9:80",
    "10.197.0.1:8080",
    "nosuch:80",
  ];
  return [...names, ...ports, ...others].map((place) => `http://${place}/`);
}

/** The statuses that curl gets in the application's container of pod `a`, by the name server of the pod; 0 without an answer. */
export async function curled({ pods: { a } }: EndsMesh, urls: readonly string[]): Promise<readonly number[]> {
  const each = urls.flatMap((url) => ["-o", "/dev/null", url]);
  const curl = [
    "curl",
    "-s",
    "-m",
    "5",
    "--noproxy",
    "*",
    "-H",
    "Connection: close",
    "-w",
    "%{http_code}\\n",
    ...each,
  ];
  if (urls.length === 0) return [];
  const { stdout } = await new Deno.Command("nsenter", { args: [...a.entrance, ...curl], stdin: "null" }).output();
  const codes = new TextDecoder().decode(stdout).trim().split("\n").map(Number);
  assert.equal(codes.length, urls.length);
  return codes;
}

/** What `explain` says of each request. */
export async function explainedAll(all: readonly Snapshot[], urls: readonly string[]): Promise<readonly Answer[]> {
  await re2Library.loaded();
  const facts = new Map(all.map((snapshot) => [snapshot, factsOf(snapshot)]));
  const own = [...facts.values()].find(({ snapshot }) => snapshot.pod.name === "a") ?? assert.fail();
  const none = { from: undefined, toPort: undefined, method: undefined, header: [], sni: undefined };
  return await Promise.all(urls.map(async (to) => {
    const connection = readConnection({ ...none, to }) ?? assert.fail();
    return await withOtherEnds(answerWith(own, connection), own, connection, savedEnds(facts));
  }));
}
