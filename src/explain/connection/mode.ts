/** The mTLS mode of an inbound port, from its filter chains: STRICT, PERMISSIVE or DISABLE. */
import type { Listener } from "../envoy/listener.ts";
import { chooseChain, type Incoming } from "./chain_step.ts";

/** The protocols that a listener detects for each kind of client. Sidecars offer Istio's own protocols in ALPN. */
export const CLIENTS = {
  "mutual-http": { spoken: "tls", alpn: ["istio-http/1.1", "istio", "http/1.1"] },
  "mutual-tcp": { spoken: "tls", alpn: ["istio-peer-exchange", "istio"] },
  "plain-http": { spoken: "http", alpn: [] },
  "plain-tcp": { spoken: "tcp", alpn: [] },
  tls: { spoken: "tls", alpn: ["h2", "http/1.1"] },
} as const satisfies Readonly<Record<string, Pick<Incoming, "spoken" | "alpn">>>;

export type Client = keyof typeof CLIENTS;

export interface Mode {
  readonly name: "STRICT" | "PERMISSIVE" | "DISABLE" | "closed";
  /** Whether the port accepts mutual TLS. `plain` is the same for plain text. */
  readonly mutual: boolean;
  readonly plain: boolean;
  /** Whether a chain of the port reads HTTP. */
  readonly isHttp: boolean;
  readonly text: string;
}

const TEXTS: Readonly<Record<Mode["name"], string>> = {
  STRICT: "STRICT: the port accepts mutual TLS and refuses plain text",
  PERMISSIVE: "PERMISSIVE: the port accepts mutual TLS and plain text",
  DISABLE: "DISABLE: the port accepts plain text and does not terminate TLS",
  closed: "no filter chain matches connections to this port",
};

/** Returns the mode of a port, from the chain that matches each kind of client. */
export function modeOf(listener: Listener, base: Omit<Incoming, "spoken" | "alpn">): Mode {
  const chainFor = (client: Client) => chooseChain(listener, { ...base, ...CLIENTS[client] }).chain;
  const chains = [chainFor("mutual-http"), chainFor("mutual-tcp")];
  const mutual = chains.some((chain) => chain?.transport.kind === "tls");
  const plain = [chainFor("plain-http"), chainFor("plain-tcp")].some((chain) => chain?.transport.kind === "plain");
  const name = mutual ? plain ? "PERMISSIVE" : "STRICT" : plain ? "DISABLE" : "closed";
  const preferred = mutual ? chains[0] : chainFor("plain-http");
  const isHttp = preferred?.filters.some(({ kind }) => kind === "http") === true;
  return { name, mutual, plain, isHttp, text: TEXTS[name] };
}

/** Whether a port accepts a client. A port without TLS forwards TLS to the application. */
export function takes({ mutual, plain }: Mode, client: Client): boolean {
  return client.startsWith("mutual") ? mutual : client === "tls" ? mutual || plain : plain;
}
