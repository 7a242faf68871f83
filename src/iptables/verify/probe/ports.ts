/**
 * Opens the capture ports for a proof if they are free. If the proxy listens there, watches the proxy's connections.
 */
import { addressText } from "../../../golang/net/mod.ts";
import { type Connection, parseConnections } from "../../../platform/proc_net.ts";
import type { Endpoint, Socket, SystemCalls, World } from "../../../platform/mod.ts";
import { EADDRINUSE, SystemError } from "../../../platform/mod.ts";
import type { Family } from "../../plan/rule.ts";

export type OpenPort = Extract<ReturnType<typeof openPort>, { close(): void }>;
export type OpenDatagramPort = Extract<ReturnType<typeof openDatagramPort>, { close(): void }>;

/** An open port, `"in use"` if another process uses the port, or the reason why opening the port failed. */
export type PortState<Open> = Open | "in use" | { readonly reason: string };

/** Opens a TCP port on every address of a family. */
export function openPort(system: SystemCalls, family: Family, port: number, transparent: boolean) {
  const socket = bound(system, { kind: "stream", family, transparent }, port);
  if (typeof socket === "string" || "reason" in socket) return socket;
  const arrived = new Map<string, Socket>();
  return {
    /** Returns the connection from an endpoint; `undefined` until it arrives. */
    take(remote: Endpoint): Socket | undefined {
      for (let next = socket.accept(); next !== undefined; next = socket.accept()) {
        arrived.set(endpointText(next.remote), next.socket);
      }
      return arrived.get(endpointText(remote));
    },
    close(): void {
      for (const each of arrived.values()) each.close();
      socket.close();
    },
  };
}

/** Opens a UDP port on every address of a family. */
export function openDatagramPort(system: SystemCalls, family: Family, port: number) {
  const socket = bound(system, { kind: "datagram", family }, port);
  if (typeof socket === "string" || "reason" in socket) return socket;
  const seen: string[] = [];
  return {
    /** Whether a datagram with this text has arrived. */
    hasArrived(token: string): boolean {
      for (let data = socket.receive(); data !== undefined; data = socket.receive()) {
        seen.push(new TextDecoder("latin1").decode(data));
      }
      return seen.some((text) => text.includes(token));
    },
    close: () => socket.close(),
  };
}

function bound(
  system: SystemCalls,
  options: Parameters<SystemCalls["openSocket"]>[0],
  port: number,
): PortState<Socket> {
  let socket: Socket | undefined;
  try {
    socket = system.openSocket(options);
    socket.bind({ address: { family: options.family, value: 0n, zone: "" }, port });
    if (options.kind === "stream") socket.listen();
    return socket;
  } catch (error) {
    socket?.close();
    if (!(error instanceof SystemError)) throw error;
    return error.errno === EADDRINUSE ? "in use" : { reason: error.message };
  }
}

/** Formats an endpoint, such as `10.1.1.1:80` or `[2001:db8::1]:80`. */
export function endpointText({ address, port }: Endpoint): string {
  const text = addressText({ ...address, zone: "" });
  return address.family === 4 ? `${text}:${port}` : `[${text}]:${port}`;
}

/**
 * Reads the connections of all processes in this network namespace. Returns an empty list if the kernel lacks the
 * family.
 */
export async function readConnections(world: World, family: Family): Promise<Connection[]> {
  const path = family === 4 ? "/proc/net/tcp" : "/proc/net/tcp6";
  return parseConnections(await world.files.readText(path).catch(() => ""));
}
