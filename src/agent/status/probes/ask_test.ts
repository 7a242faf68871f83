import assert from "node:assert/strict";
import { forwardedHeaders } from "./ask.ts";

function hostOf(host: string): string | null {
  return forwardedHeaders(new Headers({ host }), 15020, 8080).get("host");
}

Deno.test("forwardedHeaders() replaces the agent's port by the application's", () => {
  assert.equal(hostOf("10.0.0.1:15020"), "10.0.0.1:8080");
  assert.equal(hostOf("[2001:db8::1]:15020"), "[2001:db8::1]:8080");
  assert.equal(hostOf("example.com:15020"), "example.com:8080");
});

Deno.test("forwardedHeaders() keeps another host", () => {
  for (const host of ["example.com", "example.com:80", "[::1]", "a:b:15020"]) assert.equal(hostOf(host), host);
});

Deno.test("forwardedHeaders() passes all headers except the connection's", () => {
  const incoming = new Headers([
    ["x-many", "1"],
    ["x-many", "2"],
    ["user-agent", "kube-probe/1.30"],
    ["authorization", "Basic eA=="],
    ["connection", "keep-alive"],
    ["transfer-encoding", "chunked"],
    ["content-length", "3"],
    ["accept-encoding", "gzip"],
  ]);
  assert.deepEqual([...forwardedHeaders(incoming, 15020, 80)], [
    ["accept-encoding", "gzip"],
    ["authorization", "Basic eA=="],
    ["connection", "close"],
    ["user-agent", "kube-probe/1.30"],
    ["x-many", "1, 2"],
  ]);
});
