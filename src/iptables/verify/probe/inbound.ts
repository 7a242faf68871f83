/** Proof of inbound flows: a connection from a stranger, by hand, over a cable that is plugged in for it. */
import { type Address, parseAddress } from "../../../core/net.ts";
import { type Endpoint, SystemError } from "../../../core/world/mod.ts";
import { blockHolds } from "../../address_text.ts";
import type { Family } from "../../plan/rule.ts";
import { type Attempt, type Proof, prove, until } from "./attempt.ts";
import { type Cable, CABLE_BITS, plugIn } from "./veth_pair.ts";
import { token } from "./dns_query.ts";
import type { Flow, FlowResult } from "../flow.ts";
import { frameOf, type Segment, segmentOf, TCP_FLAGS } from "./frames.ts";
import { ownAddresses } from "../flows.ts";
import { endpointText, type OpenPort, type PortState } from "./ports.ts";
import { readConnections } from "./proc_net.ts";

/** What the proof of inbound flows needs to know. */
export interface InboundContext {
  readonly addresses: readonly string[];
  readonly isTransparent: boolean;
  port(family: Family): PortState;
}

/** Proves the flows one after the other: they share the cable. */
export async function proveInbound(
  proof: Proof,
  flows: readonly Flow[],
  context: InboundContext,
): Promise<FlowResult[]> {
  const [ready, refused] = [flows.filter(isReady), flows.filter((flow) => !isReady(flow))];
  const results = refused.map((flow) => unprovable(flow, typeof flow.owner === "string" ? flow.owner : NO_TARGET));
  if (ready.length === 0) return results;
  const cable = plug(proof);
  if (typeof cable === "string") {
    const why = `no pair of virtual interfaces can be made (veth): ${cable}`;
    return [...results, ...ready.map((flow) => unprovable(flow, why))];
  }
  try {
    const families = new Set(ready.map(({ family }) => family));
    const sources = new Map([...families].map((family) => [family, strangerOn(cable, family, context)]));
    return [...results, ...await Promise.all(ready.map((flow) => proveFlow(proof, flow, { cable, sources, context })))];
  } finally {
    cable.remove();
  }
}

const NO_TARGET = "the pod has no address of this family";

function isReady({ owner, targets }: Flow): boolean {
  return typeof owner !== "string" && targets.length > 0;
}

function unprovable(flow: Flow, reason: string): FlowResult {
  return { flow, target: flow.targets[0], outcome: "not provable", reason };
}

function plug({ world }: Proof): Cable | string {
  try {
    return plugIn(world.system);
  } catch (error) {
    if (error instanceof SystemError) return error.message;
    throw error;
  }
}

/** Addresses of blocks for documentation, other ones than outbound connections are tried with. */
const CABLE_ADDRESSES: Readonly<Record<Family, readonly string[]>> = {
  4: ["192.0.2.253", "198.51.100.253", "203.0.113.253"],
  6: ["2001:db8:0:ab1e::1", "2001:db8:ffff:ab1e::1"],
};

/** The pod's end gets an address of a block that nobody has; the next one is the stranger. In words why not. */
function strangerOn(cable: Cable, family: Family, context: InboundContext): Address | string {
  const own = ownAddresses(context, family);
  const free = CABLE_ADDRESSES[family].map(parseAddress).filter((address) => typeof address !== "string")
    .find((address) => !own.some((each) => blockHolds({ address, bits: CABLE_BITS[family] }, each)));
  if (free === undefined) return "the pod uses all blocks that are for documentation";
  try {
    cable.addAddress(free);
  } catch (error) {
    if (error instanceof SystemError) return error.message;
    throw error;
  }
  return { ...free, value: free.value + 1n };
}

interface Surroundings {
  readonly cable: Cable;
  readonly sources: ReadonlyMap<Family, Address | string>;
  readonly context: InboundContext;
}

async function proveFlow(proof: Proof, flow: Flow, { cable, sources, context }: Surroundings): Promise<FlowResult> {
  const [target] = flow.targets;
  const address = sources.get(flow.family);
  const state = context.port(flow.family);
  if (typeof address === "string") return unprovable(flow, address);
  if (target === undefined || address === undefined) return unprovable(flow, NO_TARGET);
  if (typeof state === "object" && "reason" in state) return unprovable(flow, `port ${flow.port}: ${state.reason}`);
  return await prove(proof, flow, (end) => {
    const source = { address, port: randomPort() };
    const call = { cable, source, target, state, end, isTransparent: context.isTransparent };
    return callIn(proof, flow, call);
  });
}

interface Call {
  readonly cable: Cable;
  readonly source: Endpoint;
  readonly target: Endpoint;
  readonly state: Exclude<PortState, { readonly reason: string }>;
  readonly isTransparent: boolean;
  readonly end: number;
}

/** Outside the range from which the kernel gives ports to clients. */
function randomPort(): number {
  return 61000 + Math.floor(Math.random() * 4000);
}

async function callIn(proof: Proof, flow: Flow, call: Call): Promise<Attempt> {
  const { target, state } = call;
  const word = token();
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
      if (!isAnswered && state !== "in use") sendToken(call, answer, word);
      isAnswered ||= (answer.flags & TCP_FLAGS.syn) !== 0;
      return !isAnswered && (answer.flags & TCP_FLAGS.reset) !== 0;
    });
    if (isRefused) return REFUSED;
    return state === "in use" ? await seenInKernel(proof, flow, call) : tokenCameIn(state, call, word);
  });
  sendSegment(call, { flags: TCP_FLAGS.reset, sequence: SEQUENCE + 1 + word.length, acknowledgement: 0 });
  if (found !== undefined && found !== REFUSED) return { target, outcome: "proved", reason: found };
  const where = found === REFUSED
    ? `: ${endpointText(target)} refused it itself`
    : isAnswered
    ? ": the application has it"
    : "";
  return {
    target,
    outcome: "escaped",
    reason: `a connection from outside did not arrive at port ${flow.port}${where}`,
  };
}

const REFUSED = "refused";
/** A new interface may lose what comes first. */
const REPEAT_MILLISECONDS = 100;

/**
 * The third part of the handshake and the token with it. A process of others gets neither: that the kernel holds the
 * half of a connection for it is proof enough.
 */
function sendToken(call: Call, { flags, sequence }: Segment, word: string): void {
  if ((flags & TCP_FLAGS.syn) === 0) return;
  sendSegment(call, {
    flags: TCP_FLAGS.ack | TCP_FLAGS.push,
    sequence: SEQUENCE + 1,
    acknowledgement: (sequence + 1) >>> 0,
    data: new TextEncoder().encode(word),
  });
}

function tokenCameIn(port: OpenPort, { source }: Call, word: string): string | undefined {
  const received = new TextDecoder().decode(port.take(source)?.receive());
  return received === word ? "a random token came in" : undefined;
}

const SEQUENCE = 0x6d657368;

function sendSegment(call: Call, segment: Pick<Segment, "flags" | "sequence" | "acknowledgement" | "data">): void {
  const { cable, source, target } = call;
  cable.socket.send(frameOf({ ...segment, source, destination: target }, cable.outerHardware, cable.innerHardware));
}

/** Segments that came back for this call; flows in turn read from one cable, so that those of others are kept. */
function inbox({ cable, source }: Call): () => Segment[] {
  const kept = INBOXES.get(cable) ?? [];
  INBOXES.set(cable, kept);
  return () => {
    for (let frame = cable.socket.receive(); frame !== undefined; frame = cable.socket.receive()) {
      const segment = segmentOf(frame);
      if (segment !== undefined) kept.push(segment);
    }
    const isOurs = ({ destination }: Segment) => endpointText(destination) === endpointText(source);
    const ours = kept.filter(isOurs);
    kept.splice(0, kept.length, ...kept.filter((segment) => !isOurs(segment)));
    return ours;
  };
}

const INBOXES = new WeakMap<Cable, Segment[]>();

/** With TPROXY the kernel shows the port that was called: it is the proxy that has it if nobody listens there. */
async function seenInKernel({ world }: Proof, flow: Flow, { source, target, isTransparent }: Call) {
  const all = await readConnections(world, flow.family);
  const text = endpointText(source);
  const ours = all.find(({ remote }) => endpointText(remote) === text);
  const hasListener = all.some(({ local, isListening }) => isListening && local.port === target.port);
  const isThere = ours?.local.port === flow.port || isTransparent && ours !== undefined && !hasListener;
  return isThere ? `the process that listens on port ${flow.port} has it` : undefined;
}
