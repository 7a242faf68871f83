import assert from "node:assert/strict";
import { DialError } from "../../connection.ts";
import { connectInsecureTls } from "./insecure_tls.ts";

const TLS = { serverName: "example.com", authorities: undefined, protocols: [], insecure: true };

// The library for local addresses stays loaded.
const LINUX = { sanitizeResources: false, ignore: Deno.build.os !== "linux" };

Deno.test(
  "connectInsecureTls() connects directly, or else closes its connection if it cannot listen",
  LINUX,
  async () => {
    const { listen } = Deno;
    using server = listen({ hostname: "127.0.0.1", port: 0 });
    const stop = new AbortController();
    const direct = { host: "example.com", port: server.addr.port, tls: TLS, signal: stop.signal };
    Deno.listen = () => {
      throw new Error("Too many open files (os error 24)");
    };
    try {
      for (const [options, isAsked] of [[{ ...direct, source: "127.0.0.1" }, false], [direct, true]] as const) {
        const dialed = connectInsecureTls("127.0.0.1", options, TLS);
        const failed = assert.rejects(dialed, DialError);
        using connection = await server.accept();
        const read = await connection.read(new Uint8Array(1));
        assert.equal(read !== null, isAsked);
        if (isAsked) stop.abort();
        await failed;
      }
    } finally {
      Deno.listen = listen;
    }
  },
);
