import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import type { Probe } from "./probe.ts";
import { explain } from "./stages.ts";

const URL_15021 = "http://localhost:15021/healthz/ready";
const LOG = "see the log of the proxy's container";
const REFUSED: Probe = { stage: "refused", seen: "connection refused" };
const UNREADY: Probe = { stage: "unready", seen: "answered 503" };

function refused(): never {
  throw new TypeError("tcp connect error: Connection refused (os error 111)");
}

async function explained(found: Record<string, Probe>, agent: (url: string) => Response = refused) {
  const asked: string[] = [];
  const world = fakeWorld({
    request(url) {
      asked.push(url);
      return agent(url);
    },
  });
  return { ...await explain(world, new Map(Object.entries(found)), 500), asked };
}

Deno.test("explain(): neither the proxy nor its agent has started", async () => {
  assert.deepEqual(await explained({ [URL_15021]: REFUSED }), {
    seen: `${URL_15021}: connection refused, and its agent at port 15020 has not started either`,
    hint: "no program listens on this port: check that this pod has a proxy, and see the log of its container",
    asked: ["http://localhost:15020/healthz/ready?verbose"],
  });
});

Deno.test("explain() has the agent's reason as one line", async () => {
  const explanation = await explained(
    { [URL_15021]: REFUSED },
    () => new Response("config not received\nfrom XDS\u001b[31m server\n", { status: 503 }),
  );
  assert.equal(
    explanation.seen,
    `${URL_15021}: connection refused, while its agent at port 15020 says: config not received; from XDS [31m server`,
  );
  assert.equal(explanation.hint, LOG);
});

Deno.test("explain() has the failed stages of the agent's list", async () => {
  const list = "[+]config ok: it is here\n[-]server failed: server is not live\n[-]workers failed: none\nnot ready\n";
  const { seen } = await explained({ [URL_15021]: UNREADY }, () => new Response(list, { status: 503 }));
  assert.match(seen, /15020 says: server failed: server is not live; workers failed: none$/);
});

Deno.test("explain() has the status of an agent without a reason, like Istio's", async () => {
  const explanation = await explained({ [URL_15021]: UNREADY }, () => new Response(null, { status: 503 }));
  assert.equal(explanation.seen, `${URL_15021}: answered 503, while its agent at port 15020 says: answered 503`);
});

Deno.test("explain() reads only the start of the response", async () => {
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(500).fill(97)),
  });
  const { seen } = await explained({ [URL_15021]: UNREADY }, () => new Response(endless));
  assert.equal(seen.length, `${URL_15021}: answered 503, while its agent at port 15020 says: `.length + 2000);
});

Deno.test("explain() asks the agent on the host of the URL, and only for its ports", async () => {
  const urls = ["http://127.0.0.7:15020/x", "http://[::1]:15021/", "http://app:8080/ready", "https://a:15021/"];
  const { asked } = await explained(Object.fromEntries(urls.map((url) => [url, UNREADY])));
  assert.deepEqual(asked, [
    "http://127.0.0.7:15020/healthz/ready?verbose",
    "http://[::1]:15020/healthz/ready?verbose",
  ]);
});

Deno.test("explain() has a hint for each stage, without repetition", async () => {
  const { seen, hint } = await explained({
    "http://a/": { stage: "unknown-name", seen: "the host name is unknown" },
    "http://b/": { stage: "silent", seen: "no answer within 500ms" },
    "http://c/": { stage: "other-status", seen: "answered 404" },
    "http://user:secret@d/": { stage: "other-status", seen: "answered 204" },
  });
  assert.equal(
    seen,
    "http://a/: the host name is unknown; http://b/: no answer within 500ms; http://c/: answered 404; " +
      "http://d/: answered 204",
  );
  assert.equal(
    hint,
    "check the host in --url; the proxy hangs or lacks CPU; a longer --request-timeout may help; " +
      "only status 200 means ready: check --url",
  );
});
