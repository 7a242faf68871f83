import { parsePort, splitHostPort } from "../../core/net.ts";

/** A socket address as Envoy reads it. */
export type SocketAddress = {
  readonly address: string;
  readonly port_value: number;
};

/**
 * The socket address of a checked `host:port`; `$(HOST_IP)` as the host is the node's address, if that is known.
 * Source: Istio's option.addressConverter.
 */
export function socketAddress(text: string, hostIp: string): SocketAddress {
  const parts = splitHostPort(text);
  const { host, port } = typeof parts === "string" ? { host: text, port: "0" } : parts;
  const number = parsePort(port);
  return {
    address: host === "$(HOST_IP)" && hostIp !== "" ? hostIp : host,
    port_value: typeof number === "number" ? number : 0,
  };
}
