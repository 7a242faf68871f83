import assert from "node:assert/strict";
import { ExecError, type ExecRequest } from "../../../kube/client/mod.ts";
import { realWorld } from "../../../platform/mod.ts";
import { Together } from "./together.ts";

const REQUEST = { namespace: "shop", pod: "web", container: "istio-proxy", timeout: 1000, maxBytes: 1000 };
const QUESTIONS = [
  { part: "config_dump.json", command: ["printf", "it's\n%s", "a b"] },
  { part: "stats.txt", command: ["sh", "-c", "echo err >&2; exit 3"] },
  { part: "ready.txt", command: ["true"] },
] as const;

/** Runs the command here. */
async function exec({ command: [command = "", ...args] }: ExecRequest) {
  const { code, stdout, stderr } = await realWorld().processes.run({ command, args });
  return { code, stdout: new TextEncoder().encode(stdout), stderr };
}

Deno.test("Together runs commands by one shell, and returns what each printed and how it ended", async () => {
  const results = await new Together().run({ exec }, REQUEST, { questions: QUESTIONS, image: "a" });
  const texts = results?.map(([, { code, stdout }]) => [code, new TextDecoder().decode(stdout)]);
  assert.deepEqual(texts, [[0, "it's\na b"], [3, ""], [0, ""]]);
  assert.equal(results?.[1]?.[1].stderr, "err\n");
});

Deno.test("Together tries an image without a shell only once", async () => {
  const asked: string[] = [];
  const failing = [
    () => Promise.reject(new ExecError("no-command", "no sh")),
    () => Promise.resolve({ code: 127, stdout: new Uint8Array(), stderr: "sh: not found" }),
  ];
  for (const answer of failing) {
    const together = new Together();
    const api = { exec: ({ command }: ExecRequest) => (asked.push(command.join(" ")), answer()) };
    for (const image of ["a", "a", "b"]) {
      assert.equal(await together.run(api, REQUEST, { questions: QUESTIONS, image }), undefined);
    }
  }
  assert.equal(asked.length, 4);
});

Deno.test("Together rejects with any other error", async () => {
  const api = { exec: () => Promise.reject(new ExecError("forbidden", "no")) };
  await assert.rejects(new Together().run(api, REQUEST, { questions: QUESTIONS, image: "a" }), {
    failure: "forbidden",
  });
});
