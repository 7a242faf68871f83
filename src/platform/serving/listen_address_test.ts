import assert from "node:assert/strict";
import { UsageError } from "../../base/errors.ts";
import { listenAddress, onFirst } from "./listen_address.ts";

const GOOD: Readonly<Record<string, readonly [readonly string[], number]>> = {
  ":15017": [["::", "0.0.0.0"], 15017],
  "0.0.0.0:443": [["0.0.0.0"], 443],
  "127.0.0.1:0": [["127.0.0.1"], 0],
  "localhost:8080": [["127.0.0.1"], 8080],
  "[::1]:8080": [["::1"], 8080],
  "[::]:65535": [["::"], 65535],
};

for (const [text, [hostnames, port]] of Object.entries(GOOD)) {
  Deno.test(`listenAddress(): ${text}`, () => assert.deepEqual(listenAddress("listen", text), { hostnames, port }));
}

for (
  const text of ["", "15017", ":", ":65536", ":-1", "::1:80", "[]:80", "[127.0.0.1]:80", "example.com:80", "1.2.3:4"]
) {
  Deno.test(`listenAddress(): "${text}" is invalid`, () => {
    assert.throws(
      () => listenAddress("listen", text),
      (error) => error instanceof UsageError && error.message === `The flag --listen cannot be "${text}"`,
    );
  });
}

Deno.test("onFirst(): the first address that works, else the error of the last one", async () => {
  const tried: string[] = [];
  const listen = (hostname: string) => {
    tried.push(hostname);
    return hostname === "0.0.0.0" ? Promise.resolve("served") : Promise.reject(new Error(`no ${hostname}`));
  };
  assert.equal(await onFirst({ hostnames: ["::", "0.0.0.0", "::1"], port: 1 }, listen), "served");
  assert.deepEqual(tried, ["::", "0.0.0.0"]);
  await assert.rejects(onFirst({ hostnames: ["::", "::1"], port: 1 }, listen), { message: "no ::1" });
});
