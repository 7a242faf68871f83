/** TLS as node:tls speaks it, for clients that only speak clear text: through a socket in a folder of this user alone. */
import net from "node:net";
import tls from "node:tls";
import { isHostName } from "../../../net.ts";
import type { ClientOptions } from "../../http_client.ts";

/** What is sent in clear to the socket goes to the server over TLS. */
export interface TlsBridge {
  readonly path: string;
  /** Why the last connection to the server failed; `undefined` if it did not. */
  failure(): Error | undefined;
  close(): void;
}

/** Opens a bridge to one server: any number of connections. */
export async function openBridge(options: ClientOptions): Promise<TlsBridge> {
  const folder = await Deno.makeTempDir({ prefix: "kubectl-mesh-" });
  const path = `${folder}/tls`;
  const open = new Set<net.Socket>();
  let failure: Error | undefined;
  const server = net.createServer((inner) => {
    track(open, inner);
    splice(inner, options, { open, ended: (error) => failure = error });
  });
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(path, () => resolve());
  });
  return {
    path,
    failure: () => failure,
    close: () => closeAll(server, open, folder),
  };
}

function closeAll(server: net.Server, open: ReadonlySet<net.Socket>, folder: string): void {
  server.close();
  for (const socket of open) socket.destroy();
  Deno.removeSync(folder, { recursive: true });
}

interface Ends {
  readonly open: Set<net.Socket>;
  readonly ended: (error: Error | undefined) => void;
}

/** Feeds a connection of the socket from one to the server. */
function splice(inner: net.Socket, options: ClientOptions, { open, ended }: Ends): void {
  const { hostname, port } = new URL(options.server);
  const host = hostname.replace(/^\[|\]$/g, "");
  const outer = net.connect({ host, port: port === "" ? 443 : Number(port) });
  track(open, outer);
  const failed = (error: Error) => {
    ended(error);
    inner.destroy();
    outer.destroy();
  };
  outer.on("error", failed);
  inner.on("error", () => outer.destroy());
  inner.on("close", () => outer.destroy());
  outer.on("connect", () => {
    // What is sent at once after the handshake would wait 40 ms for an acknowledgement.
    outer.setNoDelay();
    const secure = tls.connect({ socket: outer, ...tlsOptions(options, host) });
    secure.on("error", failed);
    secure.on("close", () => inner.destroy());
    inner.on("close", () => secure.destroy());
    secure.on("secureConnect", () => {
      inner.pipe(secure);
      secure.pipe(inner);
    });
    secure.once("data", () => ended(undefined));
  });
}

function tlsOptions(
  { authorities, identity, serverName, insecure }: ClientOptions,
  host: string,
): tls.ConnectionOptions {
  const name = serverName ?? (isHostName(host) ? host : undefined);
  return {
    rejectUnauthorized: insecure !== true,
    ALPNProtocols: ["http/1.1"],
    ...(name === undefined ? {} : { servername: name }),
    ...(authorities === undefined ? {} : { ca: authorities }),
    ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
  };
}

function track(open: Set<net.Socket>, socket: net.Socket): void {
  open.add(socket);
  socket.on("close", () => open.delete(socket));
}
