/** An API server with TLS whose responses a test defines, as an installer in a pod would see it. */
import type { ApiAccess } from "./installer.ts";
import { testCertificate } from "../../../support/tls/certificates.ts";

/** Returns the response to a request; `undefined` means 404. */
export type Answer = (path: string, method: string, body: string, token: string) => object | number | undefined;

/** A running server, and the data that a pod has to access it. */
export interface Api extends AsyncDisposable, ApiAccess {}

/** Starts a server. A number as a response is a status without a body. */
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
