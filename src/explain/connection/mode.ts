/** The mTLS mode of an inbound port, from its filter chains: STRICT, PERMISSIVE or DISABLE. */
import type { Listener } from "../envoy/listener.ts";
import { chooseChain, type Incoming } from "./chain_step.ts";

/** Kinds of clients, as a listener sees them. Sidecars offer Istio's own protocols in ALPN. */
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
  /** Whether the port takes mutual TLS, and plain text. */
  readonly mutual: boolean;
  readonly plain: boolean;
  /** A chain reads HTTP. */
  readonly isHttp: boolean;
  readonly text: string;
}

const TEXTS: Readonly<Record<Mode["name"], string>> = {
  STRICT: "STRICT: only mutual TLS is taken, plain text is refused",
  PERMISSIVE: "PERMISSIVE: mutual TLS and plain text are taken",
  DISABLE: "DISABLE: TLS is not ended here, plain text is taken",
  closed: "no filter chain takes connections to this port",
};

/** The mode of a port, from the chain that each kind of client gets. */
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

/** Whether a port takes a client. A port without TLS passes TLS on. */
export function takes({ mutual, plain }: Mode, client: Client): boolean {
  return client.startsWith("mutual") ? mutual : client === "tls" ? mutual || plain : plain;
}
