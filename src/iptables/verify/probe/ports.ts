/** The capture ports while a proof runs: listened on where they are free, watched where the proxy has them already. */
import { addressText } from "../../address_text.ts";
import type { Endpoint, Socket, SystemCalls } from "../../../core/world/mod.ts";
import { EADDRINUSE, SystemError } from "../../../core/world/mod.ts";
import type { Family } from "../../plan/rule.ts";

/** A TCP port that is listened on. */
export interface OpenPort {
  /** The connection that came from an endpoint, once it is there. */
  take(remote: Endpoint): Socket | undefined;
  close(): void;
}

/** The port, `"in use"` by another process, or why it cannot be listened on. */
export type PortState = OpenPort | "in use" | { readonly reason: string };

/** Listens on every address of a family. */
export function openPort(system: SystemCalls, family: Family, port: number, transparent: boolean): PortState {
  try {
    const socket = system.openSocket({ kind: "stream", family, transparent });
    return listening(socket, { address: { family, value: 0n, zone: "" }, port });
  } catch (error) {
    return failure(error);
  }
}

function listening(socket: Socket, local: Endpoint): PortState {
  try {
    socket.bind(local);
    socket.listen();
  } catch (error) {
    socket.close();
    return failure(error);
  }
  const arrived = new Map<string, Socket>();
  return {
    take(remote) {
      for (let next = socket.accept(); next !== undefined; next = socket.accept()) {
        arrived.set(endpointText(next.remote), next.socket);
      }
      return arrived.get(endpointText(remote));
    },
    close() {
      for (const each of arrived.values()) each.close();
      socket.close();
    },
  };
}

function failure(error: unknown): PortState {
  if (!(error instanceof SystemError)) throw error;
  return error.errno === EADDRINUSE ? "in use" : { reason: error.message };
}

/** A UDP port that is listened on: which of the texts that were sent have come in. */
export interface OpenDatagramPort {
  hasArrived(token: string): boolean;
  close(): void;
}

/** Receives on every address of a family. */
export function openDatagramPort(
  system: SystemCalls,
  family: Family,
  port: number,
): OpenDatagramPort | "in use" | { readonly reason: string } {
  const seen: string[] = [];
  try {
    const socket = system.openSocket({ kind: "datagram", family });
    socket.bind({ address: { family, value: 0n, zone: "" }, port });
    return {
      hasArrived(token) {
        for (let data = socket.receive(); data !== undefined; data = socket.receive()) {
          seen.push(new TextDecoder("latin1").decode(data));
        }
        return seen.some((text) => text.includes(token));
      },
      close: () => socket.close(),
    };
  } catch (error) {
    const state = failure(error);
    return typeof state === "object" && "take" in state ? "in use" : state;
  }
}

/** `10.1.1.1:80`, `[2001:db8::1]:80`. */
export function endpointText({ address, port }: Endpoint): string {
  const text = addressText({ ...address, zone: "" });
  return address.family === 4 ? `${text}:${port}` : `[${text}]:${port}`;
}
