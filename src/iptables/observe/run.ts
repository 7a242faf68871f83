/** Runs `iptables trace`, which prints the path of one flow as the kernel reports it. */
import { EXIT, MeshError, UsageError } from "../../base/errors.ts";
import { type Address, parseAddress, parseUint } from "../../golang/net/mod.ts";
import type { World } from "../../platform/mod.ts";
import { enterNamespace } from "../environment.ts";
import { legacyTableNames } from "../kernel/xtables/legacy_tables.ts";
import { FAMILIES } from "../plan/rule.ts";
import { observe } from "./observe.ts";
import type { Flow } from "./trace_table.ts";

/** The flags of `iptables trace`. */
export interface TraceOptions {
  /** The destination, as `HOST:PORT`. */
  readonly to: string | undefined;
  /** The sender: an address, or `any`. */
  readonly from: string | undefined;
  readonly isUdp: boolean;
  readonly uid: number | undefined;
  readonly milliseconds: number;
  readonly networkNamespace: string | undefined;
}

/**
 * Prints the path of the first packet and returns the exit code. Rejects with a `MeshError`, also if no packet comes.
 */
export async function runTrace(world: World, options: TraceOptions): Promise<number> {
  const { milliseconds, networkNamespace = "", uid } = options;
  enterNamespace(world, networkNamespace);
  const flow = await flowOf(world, options);
  const stop = new AbortController();
  const stops = (["SIGINT", "SIGTERM"] as const).map((name) => world.signals.on(name, () => stop.abort()));
  try {
    if (flow.to === undefined) {
      world.stderr.write(`Waiting ${milliseconds / 1000} s for a packet from ${options.from}\n`);
    }
    const send = flow.to === undefined ? undefined : { uid };
    const seen = await observe(world, { flow, milliseconds, stop: stop.signal, ...send === undefined ? {} : { send } });
    await warnOfLegacy(world);
    if (seen === undefined) throw new MeshError(`No packet arrived within ${milliseconds / 1000} s`, { hint: UNSEEN });
    const { ends, lines, ending } = seen;
    const head = `${flow.protocol.toUpperCase()} ${ends}, ${flow.to === undefined ? "received" : "sent"}`;
    world.stdout.write([head, ...lines.map((line) => `  ${line}`), `=> ${ending.text}`, ""].join("\n"));
    return EXIT.ok;
  } finally {
    stops.forEach((off) => off());
  }
}

const UNSEEN = "check that a route exists, and that the sender opens a new connection";

async function flowOf(world: World, { to, from, isUdp }: TraceOptions): Promise<Flow> {
  const protocol = isUdp ? "udp" : "tcp";
  if (to !== undefined) return { protocol, to: await targetOf(world, to) };
  if (from === undefined) {
    throw new UsageError("The flow to trace is missing", { hint: "use --to HOST:PORT or --from ADDRESS" });
  }
  if (from === "any") return { protocol };
  const address = parseAddress(from);
  if (typeof address !== "string") return { protocol, from: address };
  throw new UsageError(`The flag --from cannot be "${from}"`, { hint: "use an address, or any" });
}

/** Resolves the address and port in `HOST:PORT`. Rejects with a `MeshError` for a name without an address. */
export async function targetOf(
  world: World,
  text: string,
): Promise<{ readonly address: Address; readonly port: number }> {
  const [, bracketed, plain = "", digits = ""] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? [];
  const port = parseUint(digits, 16);
  const host = bracketed ?? plain;
  if (host === "" || typeof port === "string" || port === 0) {
    throw new UsageError(`The flag --to cannot be "${text}"`, {
      hint: "use HOST:PORT, with an IPv6 address in brackets",
    });
  }
  const address = parseAddress(host);
  if (typeof address !== "string") return { address, port };
  const [first = ""] = await world.network.lookup(host);
  const found = parseAddress(first);
  if (typeof found !== "string") return { address: found, port };
  throw new MeshError(`The name "${host}" does not resolve to an address`, { hint: "use an IP address in --to" });
}

/** Warns if iptables-legacy has rules: a trace of nf_tables does not show them. */
async function warnOfLegacy(world: World): Promise<void> {
  const names = await Promise.all(FAMILIES.map((family) => legacyTableNames(world, family)));
  if (names.flat().length === 0) return;
  world.stderr.write(
    "warning: rules of iptables-legacy are not traced; use kubectl mesh iptables verify to test them\n",
  );
}
