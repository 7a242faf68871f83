/** Finds the listener that handles a connection (ConnectionHandlerImpl::getBalancedHandlerByAddress). */
import { addressOf } from "../address.ts";
import type { Address } from "../../golang/net/mod.ts";
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
  const parsed = addressOf(address);
  const listenerAt = (wanted: Pick<Address, "family" | "value">) =>
    listeners.find(({ addresses }) => addresses.some((each) => each.port === port && isSame(each, wanted)));
  const exact = parsed === undefined ? undefined : listenerAt(parsed);
  if (exact !== undefined) return { listener: exact, by: "address" };
  const any = listenerAt({ family: parsed?.family ?? 4, value: 0n });
  return any === undefined ? undefined : { listener: any, by: "wildcard" };
}

function isSame({ address }: SocketAddress, { family, value }: Pick<Address, "family" | "value">): boolean {
  const own = addressOf(address);
  return own?.family === family && own.value === value;
}

/** Returns the listener that is bound to a port and accepts the connections redirected to it. */
export function boundListener(listeners: readonly Listener[], port: number): Listener | undefined {
  return listeners.find((each) => each.bindsToPort && each.addresses.some((address) => address.port === port));
}
