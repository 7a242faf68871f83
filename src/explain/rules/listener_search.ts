/** Finds the listener that handles a connection (ConnectionHandlerImpl::getBalancedHandlerByAddress). */
import { parseAddress } from "../../golang/net/mod.ts";
import type { Listener } from "../envoy/listener.ts";
import type { SocketAddress } from "../envoy/message.ts";

interface Takeover {
  readonly listener: Listener;
  readonly by: "address" | "wildcard";
}

/**
 * Returns the listener that takes over a connection to a destination: the listener with exactly this address, or else
 * the listener with the wildcard address of the IP family. If the address is unknown, only the IPv4 wildcard matches.
 * Returns `undefined` if the listener that accepted the connection keeps it.
 */
export function listenerFor(
  listeners: readonly Listener[],
  address: string | undefined,
  port: number,
): Takeover | undefined {
  const parsed = address === undefined ? undefined : parseAddress(address);
  const family = parsed === undefined || typeof parsed === "string" ? 4 : parsed.family;
  const exact = parsed === undefined || typeof parsed === "string"
    ? undefined
    : listeners.find((each) => hasAddress(each, (one) => one.port === port && isSame(one, parsed)));
  if (exact !== undefined) return { listener: exact, by: "address" };
  const any = listeners.find((each) => hasAddress(each, (one) => one.port === port && isWildcard(one, family)));
  return any === undefined ? undefined : { listener: any, by: "wildcard" };
}

function hasAddress({ addresses }: Listener, test: (address: SocketAddress) => boolean): boolean {
  return addresses.some(test);
}

function isSame({ address }: SocketAddress, wanted: { readonly family: 4 | 6; readonly value: bigint }): boolean {
  const own = parseAddress(address);
  return typeof own !== "string" && own.family === wanted.family && own.value === wanted.value;
}

function isWildcard(address: SocketAddress, family: 4 | 6): boolean {
  return isSame(address, { family, value: 0n });
}

/** Returns the listener that is bound to a port and accepts the connections redirected to it. */
export function boundListener(listeners: readonly Listener[], port: number): Listener | undefined {
  return listeners.find((each) => each.bindsToPort && hasAddress(each, (address) => address.port === port));
}
