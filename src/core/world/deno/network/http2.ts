/**
 * HTTP/2 on a connection that is open. Deno's client makes its connections itself, but it also makes them to a Unix socket:
 * it is given one in a folder of this user alone, which is gone as soon as the client has come, and behind it the bytes
 * are copied. `node:http2` loses headers and waits 40 ms for each piece in the Deno of today.
 */
import { MeshError, messageOf } from "../../../errors.ts";
import type { ByteConnection, Http2Client } from "../../byte_connection.ts";
import { realFetch } from "./fetch.ts";
import { clientOnItsOwn } from "./proxies.ts";
import { splice } from "../../splice.ts";

/**
 * Where the folder is made: a container whose own file system is read-only still has shared memory, and a proxy the folder
 * of its configuration.
 */
const PLACES = [undefined, "/dev/shm", "/etc/istio/proxy"];

/** A client on this connection; see `Network.http2`. */
export function http2Client(connection: ByteConnection): Http2Client {
  const { listener, path, remove } = privateSocket();
  const client = clientOnItsOwn({ http1: false, http2: true, proxy: { transport: "unix", path } });
  let isClosed = false;
  function close() {
    if (isClosed) return;
    isClosed = true;
    listener.close();
    remove();
    client.close();
  }
  const ended = feed(listener, connection, remove).finally(close);
  return {
    request: (authority, path, init) => realFetch(`http://${authority}${path}`, { ...init, client }),
    ended,
    close() {
      connection.close();
      close();
    },
  };
}

/** The first that comes to the socket gets the connection. Out: why it broke. */
async function feed(listener: Deno.UnixListener, connection: ByteConnection, remove: () => void): Promise<unknown> {
  try {
    const inner = await listener.accept();
    remove();
    return (await splice(connection, inner)).error;
  } catch (error) {
    connection.close();
    return error;
  }
}

function privateSocket() {
  const folder = privateFolder();
  const path = `${folder}/h2`;
  const remove = () => {
    try {
      Deno.removeSync(folder, { recursive: true });
    } catch {
      // It has been removed before.
    }
  };
  return { listener: Deno.listen({ transport: "unix", path }), path, remove };
}

/** 0700, as all temporary folders. */
function privateFolder(): string {
  let failure: unknown;
  for (const dir of PLACES) {
    try {
      return Deno.makeTempDirSync({ prefix: "kubectl-mesh-h2-", ...(dir === undefined ? {} : { dir }) });
    } catch (error) {
      failure = error;
    }
  }
  throw new MeshError(`Cannot make a temporary folder for a socket: ${messageOf(failure)}`, {
    cause: failure,
    hint: "name a folder that can be written to in TMPDIR",
  });
}
