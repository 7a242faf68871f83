/** Listening Unix sockets. */
import { dirname } from "node:path";
import { MeshError, messageOf } from "../../../base/errors.ts";
import { removeIfThere } from "../files.ts";
import { giveConnections } from "./connections.ts";
import { serveLasting } from "./lasting_server.ts";
import type { ByteConnection, UnixServer, UnixSocketOptions } from "../../connection.ts";

/** Implements `Network.serveUnix`. */
export async function serveUnix(
  options: UnixSocketOptions,
  handler: (request: Request) => Response | Promise<Response>,
): Promise<UnixServer> {
  const { path, mode } = options;
  const end = new AbortController();
  const start = (failed: AbortSignal, before: Deno.UnixAddr | undefined) => {
    if (before !== undefined) removeIfThere(path);
    const signal = AbortSignal.any([end.signal, failed]);
    const server = Deno.serve({ path, signal, onListen: () => {} }, handler);
    if (before !== undefined) Deno.chmodSync(path, mode);
    return server;
  };
  const server = await bind(options, () => serveLasting(start, options.failed));
  return {
    close: once(async () => {
      end.abort();
      await server.shutdown();
      removeIfThere(path);
    }),
  };
}

/** Implements `Network.listenUnix`. */
export async function listenUnix(
  options: UnixSocketOptions,
  accepted: (connection: ByteConnection) => void,
): Promise<UnixServer> {
  const { path } = options;
  const close = giveConnections(await bind(options, () => Deno.listen({ transport: "unix", path })), accepted);
  return {
    close: once(async () => {
      await close();
      removeIfThere(path);
    }),
  };
}

/** Runs a function once; later calls return the same promise. */
function once(end: () => Promise<void>): () => Promise<void> {
  let ending: Promise<void> | undefined;
  return () => ending ??= end();
}

/** Listens, then sets the socket's mode. Until then, only the folder's permissions and the umask protect the socket. */
async function bind<T>({ path, mode }: UnixSocketOptions, listen: () => T): Promise<T> {
  try {
    await removeStale(path);
    const listener = listen();
    await Deno.chmod(path, mode);
    return listener;
  } catch (error) {
    if (error instanceof MeshError) throw error;
    throw new MeshError(`Cannot listen on the Unix socket "${path}": ${messageOf(error)}`, { cause: error });
  }
}

/** Removes a socket that a killed process left behind. */
async function removeStale(path: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const status = await Deno.lstat(path).catch(() => undefined);
  if (status === undefined) return;
  if (status.isSocket !== true && status.isSymlink !== true) {
    throw new MeshError(`Cannot listen on the Unix socket "${path}": the file is not a socket`);
  }
  if (await isServed(path)) {
    throw new MeshError(`Cannot listen on the Unix socket "${path}": another process serves it`);
  }
  await Deno.remove(path);
}

/** Implements `Network.isServed`. */
export async function isServed(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return true;
  } catch {
    // No process listens, or the socket does not exist.
    return false;
  }
}
