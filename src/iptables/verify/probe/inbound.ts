/** Proves inbound flows with hand-written TCP segments that a veth pair delivers as if from outside the pod. */
import { type Address, blockHolds, parseAddress } from "../../../golang/net/mod.ts";
import { type Endpoint, SystemError } from "../../../platform/mod.ts";
import type { Family } from "../../plan/rule.ts";
import { type Flow, type FlowResult, ownAddresses } from "../flows.ts";
import { type Attempt, notProvable, type Proof, prove, token, until } from "./attempt.ts";
import { frameOf, type Segment, segmentOf, TCP_FLAGS } from "./frames.ts";
import { endpointText, type OpenPort, type PortState, readConnections } from "./ports.ts";
import { createVethPair, PREFIX_BITS, type VethPair } from "./veth_pair.ts";

export interface InboundContext {
  readonly addresses: readonly string[];
  readonly isTransparent: boolean;
  port(family: Family): PortState<OpenPort>;
}

/** Proves the flows over one veth pair. */
export async function proveInbound(
  proof: Proof,
  flows: readonly Flow[],
  context: InboundContext,
): Promise<FlowResult[]> {
  const results: FlowResult[] = [];
  const ready: Ready[] = [];
  for (const flow of flows) {
    const each = readyOf(flow, context);
    if (typeof each === "string") results.push(notProvable(flow, each));
    else ready.push(each);
  }
  if (ready.length === 0) return results;
  const veth = textOnFailure(() => createVethPair(proof.world.system));
  if (typeof veth === "string") {
    return [...results, ...ready.map(({ flow }) => notProvable(flow, `creating a veth pair failed: ${veth}`))];
  }
  try {
    const sources = { 4: sourceOn(veth, ready, 4, context), 6: sourceOn(veth, ready, 6, context) };
    return [...results, ...await Promise.all(ready.map((each) => proveFlow(proof, each, veth, sources)))];
  } finally {
    veth.remove();
  }
}

interface Ready {
  readonly flow: Flow;
  readonly target: Endpoint;
  readonly state: OpenPort | "in use";
  readonly isTransparent: boolean;
}

function readyOf(flow: Flow, context: InboundContext): Ready | string {
  const { owner, targets: [target], port, family } = flow;
  if (typeof owner === "string") return owner;
  if (target === undefined) return "the pod has no address of this family";
  const state = context.port(family);
  if (typeof state === "object" && "reason" in state) return `port ${port}: ${state.reason}`;
  return { flow, target, state, isTransparent: context.isTransparent };
}

function textOnFailure<T>(call: () => T): T | string {
  try {
    return call();
  } catch (error) {
    if (error instanceof SystemError) return error.message;
    throw error;
  }
}

/** Blocks of documentation addresses that the outbound flows do not use. */
const INNER_ADDRESSES: Readonly<Record<Family, readonly string[]>> = {
  4: ["192.0.2.253", "198.51.100.253", "203.0.113.253"],
  6: ["2001:db8:0:ab1e::1", "2001:db8:ffff:ab1e::1"],
};

/**
 * Adds an unused address to the inner end and returns the next address as the source, or returns the reason for
 * failure.
 */
function sourceOn(veth: VethPair, ready: readonly Ready[], family: Family, context: InboundContext): Address | string {
  if (!ready.some(({ flow }) => flow.family === family)) return "";
  const own = ownAddresses(context, family);
  const free = INNER_ADDRESSES[family].map(parseAddress).filter((address) => typeof address !== "string")
    .find((address) => !own.some((each) => blockHolds({ address, bits: PREFIX_BITS[family] }, each)));
  if (free === undefined) return "the pod uses addresses of every documentation block";
  return textOnFailure(() => veth.addAddress(free)) ?? { ...free, value: free.value + 1n };
}

async function proveFlow(
  proof: Proof,
  { flow, ...ready }: Ready,
  veth: VethPair,
  sources: Readonly<Record<Family, Address | string>>,
): Promise<FlowResult> {
  const address = sources[flow.family];
  if (typeof address === "string") return notProvable(flow, address);
  return await prove(proof, flow, (end) => {
    return callIn(proof, flow, { ...ready, veth, source: { address, port: randomPort() }, end });
  });
}

interface Call extends Omit<Ready, "flow"> {
  readonly veth: VethPair;
  readonly source: Endpoint;
  readonly end: number;
}

/** Returns a random port outside the range of ephemeral ports. */
function randomPort(): number {
  return 61000 + Math.floor(Math.random() * 4000);
}

async function callIn(proof: Proof, flow: Flow, call: Call): Promise<Attempt> {
  const { target, state } = call;
  const data = token();
  const answers = inbox(call);
  let isAnswered = false;
  let nextCall = 0;
  const found = await until(proof, call.end, async () => {
    const now = proof.world.clock.monotonic();
    if (!isAnswered && now >= nextCall) {
      sendSegment(call, { flags: TCP_FLAGS.syn, sequence: SEQUENCE, acknowledgement: 0 });
      nextCall = now + REPEAT_MILLISECONDS;
    }
    const isRefused = answers().some((answer) => {
      if (!isAnswered && state !== "in use") sendToken(call, answer, data);
      isAnswered ||= (answer.flags & TCP_FLAGS.syn) !== 0;
      return !isAnswered && (answer.flags & TCP_FLAGS.reset) !== 0;
    });
    if (isRefused) return REFUSED;
    return state === "in use" ? await seenInKernel(proof, flow, call) : tokenArrived(state, call, data);
  });
  sendSegment(call, { flags: TCP_FLAGS.reset, sequence: SEQUENCE + 1 + data.length, acknowledgement: 0 });
  if (found !== undefined && found !== REFUSED) return { target, outcome: "proved", reason: found };
  const where = found === REFUSED
    ? `: ${endpointText(target)} refused the connection`
    : isAnswered
    ? ": the application accepted the connection"
    : "";
  return {
    target,
    outcome: "escaped",
    reason: `a connection from outside did not arrive at port ${flow.port}${where}`,
  };
}

const REFUSED = "refused";
/** Milliseconds between repetitions, which are needed because a new interface may lose the first packets. */
const REPEAT_MILLISECONDS = 100;

/**
 * Completes the handshake and sends the token. If another process uses the port, a half-open connection is proof
 * enough.
 */
function sendToken(call: Call, { flags, sequence }: Segment, data: string): void {
  if ((flags & TCP_FLAGS.syn) === 0) return;
  sendSegment(call, {
    flags: TCP_FLAGS.ack | TCP_FLAGS.push,
    sequence: SEQUENCE + 1,
    acknowledgement: (sequence + 1) >>> 0,
    data: new TextEncoder().encode(data),
  });
}

function tokenArrived(port: OpenPort, { source }: Call, data: string): string | undefined {
  const received = new TextDecoder().decode(port.take(source)?.receive());
  return received === data ? "a random token arrived" : undefined;
}

const SEQUENCE = 0x6d657368;

function sendSegment(call: Call, segment: Pick<Segment, "flags" | "sequence" | "acknowledgement" | "data">): void {
  const { veth, source, target } = call;
  veth.socket.send(frameOf({ ...segment, source, destination: target }, veth.outerHardware, veth.innerHardware));
}

/**
 * Returns a function that reads the segments for a call. All calls share a socket, so the function keeps the segments
 * for other calls until those calls read them.
 */
function inbox({ veth, source }: Call): () => Segment[] {
  const kept = INBOXES.get(veth) ?? [];
  INBOXES.set(veth, kept);
  return () => {
    for (let frame = veth.socket.receive(); frame !== undefined; frame = veth.socket.receive()) {
      const segment = segmentOf(frame);
      if (segment !== undefined) kept.push(segment);
    }
    const isMine = ({ destination }: Segment) => endpointText(destination) === endpointText(source);
    const mine = kept.filter(isMine);
    kept.splice(0, kept.length, ...kept.filter((segment) => !isMine(segment)));
    return mine;
  };
}

const INBOXES = new WeakMap<VethPair, Segment[]>();

/**
 * Looks for a connection that the proxy accepted. With TPROXY, the kernel lists the original port, so the connection
 * belongs to the proxy if no process listens on that port.
 */
async function seenInKernel({ world }: Proof, flow: Flow, { source, target, isTransparent }: Call) {
  const all = await readConnections(world, flow.family);
  const text = endpointText(source);
  const held = all.find(({ remote }) => endpointText(remote) === text);
  const hasListener = all.some(({ local, isListening }) => isListening && local.port === target.port);
  const isThere = held?.local.port === flow.port || isTransparent && held !== undefined && !hasListener;
  return isThere ? `the process that listens on port ${flow.port} has the connection` : undefined;
}
