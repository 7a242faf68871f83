/** An API server that a test answers for, with TLS: what an installer in a pod expects. */
import type { ApiAccess } from "./installer.ts";
import { testCertificate } from "../../../support/tls/certificates.ts";

/** The answer to a request; `undefined`: 404. */
export type Answer = (path: string, method: string, body: string, token: string) => object | number | undefined;

/** A server, and what a pod knows of it. */
export interface Api extends AsyncDisposable, ApiAccess {}

/** Starts it; a number is a status without a body. */
export function startApi(answer: Answer): Api {
  const { certificate, key, authority } = testCertificate();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", cert: certificate, key, onListen: () => {} },
    async (request) => {
      const token = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
      const found = answer(new URL(request.url).pathname, request.method, await request.text(), token) ?? 404;
      if (typeof found !== "number") return Response.json(found);
      return Response.json({ kind: "Status", apiVersion: "v1", status: "Failure", code: found }, { status: found });
    },
  );
  return {
    port: server.addr.port,
    authority,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
