import assert from "node:assert/strict";
import { isLocalClient, router } from "./routes.ts";

const answer = () => new Response("done");
const route = router([
  { path: "/open", answer },
  { path: "/local", isLocal: true, method: "POST", answer },
  { path: "/below/", answer },
]);

const CASES = [
  { path: "/open", method: "GET", remote: "10.0.0.1", status: 200, text: "done" },
  { path: "/open?query", method: "POST", remote: "10.0.0.1", status: 200, text: "done" },
  { path: "/open/", method: "GET", remote: "10.0.0.1", status: 404, text: "404 page not found\n" },
  { path: "/local", method: "POST", remote: "127.0.0.1", status: 200, text: "done" },
  { path: "/local", method: "POST", remote: "::1", status: 200, text: "done" },
  { path: "/local", method: "POST", remote: "::ffff:127.0.0.1", status: 200, text: "done" },
  { path: "/local", method: "GET", remote: "127.0.0.1", status: 405, text: "Method Not Allowed\n" },
  {
    path: "/local",
    method: "POST",
    remote: "10.0.0.1",
    status: 403,
    text: "Only requests from localhost are allowed\n",
  },
  { path: "/local", method: "GET", remote: "fe80::1", status: 403, text: "Only requests from localhost are allowed\n" },
  { path: "/local", method: "GET", remote: "", status: 403, text: "Only requests from localhost are allowed\n" },
  { path: "/below/any/thing", method: "GET", remote: "10.0.0.1", status: 200, text: "done" },
  { path: "/below", method: "GET", remote: "10.0.0.1", status: 404, text: "404 page not found\n" },
  { path: "", method: "GET", remote: "10.0.0.1", status: 404, text: "404 page not found\n" },
  { path: "/open", method: "HEAD", remote: "10.0.0.1", status: 200, text: "" },
];

for (const { path, method, remote, status, text } of CASES) {
  Deno.test(`router(): ${method} "${path}" from "${remote}" is ${status}`, async () => {
    const response = await route(new Request(`http://a${path}`, { method }), remote);
    assert.deepEqual([response.status, await response.text()], [status, text]);
  });
}

const YES = ["127.0.0.1", "127.255.0.6", "::1", "::ffff:127.0.0.1", "::ffff:7f00:2"];
const NO = ["10.0.0.1", "128.0.0.1", "::", "::2", "::ffff:10.0.0.1", "::127.0.0.1", "fe80::1", "localhost", ""];

for (const text of YES) Deno.test(`isLocalClient(): ${text} is`, () => assert.equal(isLocalClient(text), true));
for (const text of NO) Deno.test(`isLocalClient(): "${text}" is not`, () => assert.equal(isLocalClient(text), false));
