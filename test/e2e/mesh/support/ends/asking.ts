/** Asks `explain` about a connection of the mesh, and sends its request. */
import assert from "node:assert/strict";
import { answerOf } from "../../../../../src/explain/answer.ts";
import { ANSWER, type Answer } from "../../../../../src/explain/answer_schema.ts";
import { readConnection } from "../../../../../src/explain/question/read_connection.ts";
import { readArchive } from "../../../../../src/explain/snapshot/archive.ts";
import type { Snapshot } from "../../../../../src/explain/snapshot/snapshot.ts";
import { savedEnds } from "../../../../../src/explain/sources/sources.ts";
import { realWorld } from "../../../../../src/platform/mod.ts";
import { sayMesh } from "../../../../support/programs/mesh.ts";
import { NAMESPACE } from "../objects.ts";
import type { EndsMesh, PodName } from "./ends_mesh.ts";

/** The client, and the flags of `explain`. */
export interface Asked {
  readonly from: PodName | "plain";
  readonly flags: readonly string[];
  /** The URL for a client without a proxy, which resolves no names. */
  readonly url?: string;
}

/** The answer of the command, which reads the API server. */
export async function explain({ mesh }: EndsMesh, { from, flags }: Asked): Promise<Answer> {
  const args = ["explain", `pod/${from}`, "-n", NAMESPACE, ...flags, "-o", "json"];
  const { code, stdout, stderr } = await sayMesh(args, environmentOf(mesh));
  assert.ok(stdout.startsWith("{"), stderr);
  const answer = ANSWER.parse(JSON.parse(stdout));
  assert.equal(code, ["reaches", "bypasses"].includes(answer.verdict) ? 0 : 1, stdout);
  return answer;
}

function environmentOf({ parts }: EndsMesh["mesh"]) {
  return { env: { KUBECONFIG: parts.cluster.kubeconfig } };
}

/** Saves an archive. Returns its snapshots of all pods with a proxy. */
export async function saved({ mesh }: EndsMesh, folder: string): Promise<readonly Snapshot[]> {
  const path = `${folder}/mesh.tar.gz`;
  const { code, stderr } = await sayMesh(["snapshot", "-n", NAMESPACE, "-o", path], environmentOf(mesh));
  assert.equal(code, 0, stderr);
  return await readArchive(realWorld(), path);
}

/** The answer from an archive: what Envoy's configuration says, without the API server. */
export async function explainSaved(all: readonly Snapshot[], { from, flags }: Asked): Promise<Answer> {
  const snapshot = all.find(({ pod }) => pod.name === from);
  const value = (name: string) => flags.includes(name) ? flags[flags.indexOf(name) + 1] : undefined;
  const header = value("--header");
  const none = { from: undefined, toPort: undefined, method: undefined, sni: undefined };
  const connection = readConnection({ ...none, to: value("--to"), header: header === undefined ? [] : [header] });
  assert.ok(snapshot !== undefined && connection !== undefined);
  return await answerOf(snapshot, connection, savedEnds(new Map(all.map((each) => [each, undefined]))));
}

/** The status of a real request; 0 without an answer. */
export async function request({ mesh, pods }: EndsMesh, { from, flags, url }: Asked): Promise<number> {
  const to = flags[flags.indexOf("--to") + 1] ?? "";
  const header = flags.includes("--header") ? flags[flags.indexOf("--header") + 1] ?? "" : "";
  const [name = "", value = ""] = header.split(": ");
  const headers = name === "" ? {} : { headers: { [name]: value } };
  const sender = from === "plain" ? mesh.parts.prober : pods[from].application;
  return (await sender.ask(url ?? (to.includes("://") ? to : `http://${to}/`), headers)).status;
}
