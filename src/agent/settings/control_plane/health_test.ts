import assert from "node:assert/strict";
import { parseProxyConfig } from "../../../istio/configuration.ts";
import { readHealth } from "./health.ts";

/** What is read of a probe as users write it. */
function read(probe: unknown, warnings: string[] = []) {
  const { data } = parseProxyConfig(JSON.stringify({ readinessProbe: probe }), "test");
  return readHealth(data, "10.0.0.1", warnings);
}

const DEFAULTS = {
  initialDelaySeconds: 0,
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 1,
};

Deno.test("readHealth() has pilot-agent's defaults", () => {
  assert.deepEqual(read({ httpGet: { port: 8080 } }), {
    ...DEFAULTS,
    check: {
      kind: "asked",
      host: "10.0.0.1",
      headers: [],
      prober: { kind: "http", port: 8080, path: "/", isTls: false, timeoutSeconds: 1 },
    },
  });
});

Deno.test("readHealth() reads all fields of a probe", () => {
  const numbers = {
    initialDelaySeconds: 2,
    timeoutSeconds: 3,
    periodSeconds: 4,
    successThreshold: 5,
    failureThreshold: 6,
  };
  const httpHeaders = [{ name: "X-A", value: "1" }];
  const httpGet = { path: "/ready", port: 8443, host: "localhost", scheme: "HTTPS", httpHeaders };
  assert.deepEqual(read({ ...numbers, httpGet }), {
    ...numbers,
    check: {
      kind: "asked",
      host: "localhost",
      headers: [["X-A", "1"]],
      prober: { kind: "http", port: 8443, path: "/ready", isTls: true, timeoutSeconds: 3 },
    },
  });
});

Deno.test("readHealth() knows the other methods", () => {
  const asked = { kind: "asked", host: "10.0.0.1", headers: [] };
  assert.deepEqual(read({ tcpSocket: { port: 1 } })?.check, {
    ...asked,
    prober: { kind: "tcp", port: 1, timeoutSeconds: 1 },
  });
  assert.deepEqual(read({ grpc: { port: 2, service: "a" } })?.check, {
    ...asked,
    prober: { kind: "grpc", port: 2, service: "a", timeoutSeconds: 1 },
  });
  assert.deepEqual(read({ exec: { command: ["test", "-e", "/ready"] } })?.check, {
    kind: "exec",
    command: ["test", "-e", "/ready"],
  });
});

Deno.test("readHealth() ignores a probe without a method, with a warning", () => {
  const warnings: string[] = [];
  assert.equal(read({ periodSeconds: 1 }, warnings), undefined);
  assert.equal(read({ exec: { command: [] } }, warnings), undefined);
  assert.equal(warnings.length, 2);
  assert.equal(readHealth({}, "", warnings), undefined);
  assert.equal(warnings.length, 2);
});
