import assert from "node:assert/strict";
import { re2Library } from "../../golang/re2.ts";
import { fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import { factsOf } from "../connection/facts.ts";
import { readConnection } from "../question/read_connection.ts";
import { proveCells } from "./cells.ts";
import type { ProbeUser } from "./plan.ts";
import type { ProbeSender } from "./send.ts";

const FLAGS = { from: undefined, toPort: undefined, method: undefined, header: [], sni: undefined };

/** Returns curl's output for a request. The mark of the request comes from the command. */
function curl(command: readonly string[], status: number, headers: string) {
  const mark = /kubectl-mesh-probe\/(\S+)/.exec(command.join(" "))?.[1] ?? "";
  const json = JSON.stringify({ response_code: status, exitcode: 0, local_ip: "10.0.0.8", local_port: 40000 });
  return { code: 0, stdout: `HTTP/1.1 ${status}\r\n${headers}\n${mark} ${json}\n${mark}\n`, stderr: "" };
}

const UPSTREAM = "x-envoy-upstream-service-time: 1\r\n";

async function prove(
  verdict: "reaches" | "refused" | "unknown" | "bypasses",
  run: ProbeSender["run"],
  count = 1,
  client = fakeSnapshot(),
) {
  await re2Library.loaded();
  const connection = readConnection({ ...FLAGS, to: "http://web:80/" });
  assert.ok(connection !== undefined);
  const users: ProbeUser[] = [];
  const sender = (user: ProbeUser) => {
    users.push(user);
    return Promise.resolve({ uid: user.uid, run });
  };
  let done = 0;
  const asked = Array.from({ length: count }, () => ({ connection, verdict }));
  const proofs = await proveCells(sender, factsOf(client), asked, () => done++);
  return { proofs, users, done };
}

/** The verdict, the status, the headers, and whether an endpoint accepted the request. */
const CASES: readonly (readonly ["reaches" | "refused" | "unknown" | "bypasses", number, string, boolean])[] = [
  ["reaches", 200, UPSTREAM, true],
  ["reaches", 500, UPSTREAM, true],
  ["reaches", 503, "", false],
  ["reaches", 403, UPSTREAM, false],
  ["reaches", 200, "", false],
  ["refused", 200, UPSTREAM, true],
  ["unknown", 200, UPSTREAM, true],
  ["bypasses", 200, "", true],
  ["bypasses", 503, "", false],
];

for (const [verdict, status, headers, reached] of CASES) {
  Deno.test(`${verdict}: ${status} ${headers === "" ? "of Envoy" : "of an endpoint"} is ${reached}`, async () => {
    const { proofs } = await prove(verdict, (command) => Promise.resolve(curl(command, status, headers)));
    assert.deepEqual(proofs, [{ result: String(status), reached }]);
  });
}

Deno.test("without Envoy in the client's pod, every response comes from an endpoint", async () => {
  const client = fakeSnapshot({ spec: { initContainers: [], containers: [{ name: "app" }] } });
  for (const verdict of ["reaches", "refused"] as const) {
    const { proofs } = await prove(verdict, (command) => Promise.resolve(curl(command, 200, "")), 1, client);
    assert.deepEqual(proofs, [{ result: "200", reached: true }]);
  }
});

Deno.test("one sender sends all requests of a pod as the application's user, at most four at a time", async () => {
  let [running, most] = [0, 0];
  const { proofs, users, done } = await prove("reaches", async (command) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
    return curl(command, 200, UPSTREAM);
  }, 12);
  assert.deepEqual([proofs.length, done, users, most], [12, 12, [{ uid: 1000, gid: 1000 }], 4]);
});

Deno.test("without curl nothing is proved", async () => {
  const { proofs } = await prove("reaches", () => Promise.resolve({ code: 127, stdout: "", stderr: "" }));
  assert.deepEqual(proofs, [{ result: "not sent: curl is not installed", reached: null }]);
});
