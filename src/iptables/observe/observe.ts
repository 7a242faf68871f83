/** Observes one flow: traces it for a limited time, and returns the path of its first packet. */
import { MeshError } from "../../base/errors.ts";
import { type Address } from "../../golang/net/mod.ts";
import { EPERM, SystemError, type World } from "../../platform/mod.ts";
import { readRuleset } from "../kernel/netfilter/ruleset.ts";
import { type Step, stepOf } from "./message.ts";
import { type Flow, openTrace } from "./trace_table.ts";
import { type Ending, pathOf } from "./words.ts";

/** The flow to observe, and the time limit. */
export interface Observing {
  readonly flow: Flow;
  /** Makes this process send the flow, as a user. If absent, waits for packets from other senders. */
  readonly send?: { readonly uid: number | undefined };
  readonly milliseconds: number;
  readonly stop: AbortSignal;
}

/** The path of a packet through the rules. */
export interface Observed {
  readonly ends: string;
  readonly lines: readonly string[];
  readonly ending: Ending;
}

const POLL = 5;
/** A packet's path counts as complete after this many milliseconds without a new step. */
const QUIET = 200;
/** Maximum number of steps, more than any path has: a chain of Istio has about twenty rules. */
const MAX_STEPS = 500;

/**
 * Traces until the first packet has passed or the time is up. Returns `undefined` if no packet came. Rejects with a
 * `MeshError`.
 */
export async function observe(world: World, observing: Observing): Promise<Observed | undefined> {
  const { system } = world;
  try {
    const trace = openTrace(system, observing.flow);
    try {
      const steps = await stepsOf(world, observing, () => trace.receive().flatMap((message) => stepOf(message) ?? []));
      const [first] = steps;
      if (first === undefined) return undefined;
      // Reads the rules of all tables: a redirected packet passes further hooks.
      const { lines, ending } = pathOf(readRuleset(system, () => true), steps);
      return { ends: first.ends ?? "", lines, ending };
    } finally {
      trace.close();
    }
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new MeshError(`Cannot trace packets: ${error.message}`, { hint: HINTS[error.errno] ?? OLD });
  }
}

const OLD = "tracing needs nf_tables and Linux 5.12 or newer";
/** The kernel dropped reports, so the path would have gaps. */
const ENOBUFS = 105;
const HINTS: Readonly<Record<number, string>> = {
  // The kernel returns EPERM also for a table that another process owns.
  [EPERM]:
    "if another trace runs in this network namespace, wait until it has finished; otherwise give the container " +
    "the capability NET_ADMIN, or run the trace on the node with --network-namespace",
  [ENOBUFS]: "too many packets match: choose one sender with --from, or one destination with --to",
};

/** Collects the steps of the first packet, in all hooks that the packet passes. */
async function stepsOf(world: World, observing: Observing, receive: () => Step[]): Promise<Step[]> {
  const { clock } = world;
  const { flow, send, milliseconds, stop } = observing;
  const end = clock.monotonic() + milliseconds;
  const socket = send === undefined || flow.to === undefined ? undefined : startFlow(world, flow, flow.to, send.uid);
  const steps: Step[] = [];
  let last = Infinity;
  try {
    while (clock.monotonic() < Math.min(end, last + QUIET) && !stop.aborted && steps.length < MAX_STEPS) {
      const more = receive();
      if (more.length > 0) last = clock.monotonic();
      steps.push(...more);
      await clock.sleep(POLL, stop);
    }
  } finally {
    socket?.close();
  }
  return ofOnePacket(steps.slice(0, MAX_STEPS));
}

/**
 * Keeps the steps of one packet. A second packet with the same addresses in a chain is a retransmission or another
 * connection.
 */
function ofOnePacket(steps: readonly Step[]): Step[] {
  const ids = new Set<number>();
  const seen = new Set<string>();
  return steps.filter(({ id, table, chain, ends }) => {
    const isNew = !ids.has(id);
    ids.add(id);
    if (isNew && ends !== undefined && seen.has(`${table} ${chain} ${ends}`)) ids.delete(id);
    if (ends !== undefined) seen.add(`${table} ${chain} ${ends}`);
    return ids.has(id);
  });
}

/** Sends the first packet of a flow, as a user if `uid` is set. */
function startFlow(
  { system }: World,
  { protocol }: Flow,
  to: { readonly address: Address; readonly port: number },
  uid: number | undefined,
) {
  const kind = protocol === "tcp" ? "stream" : "datagram";
  const socket = system.openSocket({ kind, family: to.address.family, ...uid === undefined ? {} : { uid } });
  try {
    socket.connect(to);
    if (protocol === "udp") socket.send(new Uint8Array(1));
  } catch (error) {
    socket.close();
    throw error;
  }
  return socket;
}
