import assert from "node:assert/strict";
import { DialError } from "../../connection.ts";
import { connectInsecureTls } from "./insecure_tls.ts";

Deno.test("connectInsecureTls() closes the connection to the server if it cannot listen", async () => {
  const { listen } = Deno;
  const tls = { serverName: "example.com", authorities: undefined, protocols: [], insecure: true };
  let isClosed = false;
  const outer = {
    read: () => Promise.resolve(null),
    write: () => Promise.resolve(0),
    close: () => void (isClosed = true),
  };
  Deno.listen = () => {
    throw new Error("Too many open files (os error 24)");
  };
  try {
    const options = { host: "example.com", port: 443, tls, signal: new AbortController().signal };
    await assert.rejects(connectInsecureTls(outer, options, tls), DialError);
  } finally {
    Deno.listen = listen;
  }
  assert.equal(isClosed, true);
});
