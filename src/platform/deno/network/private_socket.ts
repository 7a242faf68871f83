/**
 * A Unix socket for one connection from this process to itself. On Linux an abstract socket (without a file) is tried
 * first. Every process of the network namespace may connect to it; the kernel reports which process did.
 */
import { MeshError, messageOf } from "../../../base/errors.ts";
import type { ByteConnection } from "../../world.ts";
import { isConnectedByThis, mayCallLibrary } from "../../linux/socket_options.ts";
import { temporaryFolder, usualParent } from "../temporary/mod.ts";
import { closable } from "./connections.ts";

/** A listening Unix socket that accepts one connection and then closes. */
export interface PrivateSocket {
  /** Path of the socket; starts with NUL for an abstract socket. */
  readonly path: string;
  /** Accepts the connection that this process makes. Rejects if the socket is closed first. */
  accept(): Promise<ByteConnection>;
  close(): void;
}

/** Opens a private socket: abstract if possible, else in a temporary folder. Throws a MeshError if both kinds fail. */
export function privateSocket(): PrivateSocket {
  return withoutFile() ?? inFolder();
}

/**
 * Opens an abstract socket. Returns `undefined` on systems other than Linux. Also returns `undefined` after the process
 * has given up a permission, because Deno then treats the name as a path.
 */
function withoutFile(): PrivateSocket | undefined {
  if (!mayCallLibrary()) return undefined;
  const path = `\0kubectl-mesh-${crypto.randomUUID()}`;
  try {
    const listener = Deno.listen({ transport: "unix", path });
    const close = () => unlessClosed(listener);
    return { path, close, accept: () => acceptOwn(listener, path).finally(close) };
  } catch {
    // A security policy of the container forbids abstract sockets.
    return undefined;
  }
}

async function acceptOwn(listener: Deno.UnixListener, path: string): Promise<ByteConnection> {
  for (;;) {
    const connection = await listener.accept();
    if (isConnectedByThis(path)) return closable(connection);
    connection.close();
  }
}

/**
 * Fallback parents for the folder when TMPDIR is not writable or too long for a socket path (104 bytes on macOS).
 * A container with a read-only file system still has shared memory, and the proxy's container has a writable folder for its
 * configuration.
 */
const MORE_PARENTS = Deno.build.os === "windows" ? [] : ["/tmp", "/dev/shm", "/etc/istio/proxy"];

function inFolder(): PrivateSocket {
  let failure: unknown;
  for (const parent of [usualParent(), ...MORE_PARENTS]) {
    try {
      return inFolderOf(parent);
    } catch (error) {
      failure ??= error;
    }
  }
  throw cannotMake(failure);
}

function inFolderOf(parent: string): PrivateSocket {
  const folder = temporaryFolder(parent);
  try {
    const path = `${folder.path}/http`;
    const listener = Deno.listen({ transport: "unix", path });
    const close = () => {
      unlessClosed(listener);
      folder.remove();
    };
    return { path, close, accept: () => listener.accept().then(closable).finally(close) };
  } catch (error) {
    folder.remove();
    throw error;
  }
}

function cannotMake(cause: unknown): MeshError {
  return new MeshError(`Cannot make a temporary folder for a socket: ${messageOf(cause)}`, {
    cause,
    hint: "set TMPDIR to a writable folder",
  });
}

function unlessClosed(listener: Deno.UnixListener): void {
  try {
    listener.close();
  } catch {
    // The listener is already closed.
  }
}
