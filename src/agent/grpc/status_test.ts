import assert from "node:assert/strict";
import { CODE, codeName, statusOf } from "./status.ts";

const GRPC = { "content-type": "application/grpc" };

Deno.test("statusOf: the headers of a refused call contain the status, with a percent-encoded message", () => {
  const headers = { ...GRPC, "grpc-status": "16", "grpc-message": "token of %22%C3%BC%22 refused%0Ainfo: forged" };
  assert.deepEqual(statusOf(new Response(null, { headers })), {
    code: CODE.Unauthenticated,
    message: 'token of "ü" refused info: forged',
  });
  const broken = { ...GRPC, "grpc-status": "2", "grpc-message": "100% wrong" };
  assert.deepEqual(statusOf(new Response(null, { headers: broken })), { code: 2, message: "100% wrong" });
});

Deno.test("statusOf: undefined for a response whose status is in the trailers", () => {
  assert.equal(statusOf(new Response("x", { headers: GRPC })), undefined);
  assert.equal(statusOf(new Response("x", { headers: { "content-type": "application/grpc+proto" } })), undefined);
});

Deno.test("statusOf: a response that is not gRPC gets a code by its HTTP status", () => {
  const code = (status: number) => statusOf(new Response("x", { status, headers: { "content-type": "text/html" } }));
  assert.deepEqual([401, 403, 404, 503, 500].map((status) => code(status)?.code), [16, 7, 12, 14, 2]);
  assert.match(code(503)?.message ?? "", /HTTP status 503/);
  assert.match(code(200)?.message ?? "", /content type "text\/html"/);
});

Deno.test("codeName: names as Go has them", () => {
  assert.deepEqual([0, 4, 14, 99].map(codeName), ["OK", "DeadlineExceeded", "Unavailable", "Code(99)"]);
});
