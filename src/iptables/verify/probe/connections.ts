/** Proves flows that start in the pod, with a TCP connection or a DNS query from a user that the rules match. */
import type { Endpoint, Socket, SystemCalls } from "../../../platform/mod.ts";
import { SystemError } from "../../../platform/mod.ts";
import type { Family } from "../../plan/rule.ts";
import type { Flow, FlowResult } from "../flows.ts";
import type { Owner } from "../owners.ts";
import { type Attempt, notProvable, type Proof, prove, token, until } from "./attempt.ts";
import { endpointText, type OpenDatagramPort, type OpenPort, type PortState, readConnections } from "./ports.ts";

/** Proves that a TCP connection arrives at the capture port. */
export async function proveConnection(proof: Proof, flow: Flow, port: PortState<OpenPort>): Promise<FlowResult> {
  const plan = planOf(proof, flow, port);
  if (typeof plan === "string") return notProvable(flow, plan);
  return await prove(proof, flow, (end) => attemptConnection(proof, flow, { ...plan, end }));
}

interface Sendable<Open> {
  readonly target: Endpoint;
  readonly owner: Owner;
  readonly port: Open | "in use";
}

/** Plans how to send a flow, or returns the reason why this process cannot send it. */
function planOf<Open extends object>(proof: Proof, flow: Flow, port: PortState<Open>): Sendable<Open> | string {
  const { owner } = flow;
  if (typeof owner === "string") return owner;
  if (typeof port === "object" && "reason" in port) return `port ${flow.port}: ${port.reason}`;
  const target = reachable(proof, flow);
  return typeof target === "string" ? target : { target, owner, port };
}

async function attemptConnection(
  proof: Proof,
  flow: Flow,
  { target, owner, port, end }: Sendable<OpenPort> & { readonly end: number },
): Promise<Attempt> {
  const client = openClient(proof.world.system, "stream", flow, owner);
  try {
    if (flow.kind === "proxy to itself") bindToPod(client, target);
    client.connect(target);
    const own = client.local();
    const found = await until(proof, end, async () => {
      const failure = client.failure();
      if (failure !== 0) return { refusal: new SystemError(endpointText(target), failure).message };
      if (port === "in use") return await seenInKernel(proof, flow, own);
      return echoes(port.take(own), client) ? { proof: "a random token came back from the capture port" } : undefined;
    });
    if (found !== undefined && "proof" in found) return { target, outcome: "proved", reason: found.proof };
    const reason = `the connection did not arrive at port ${flow.port}${
      found === undefined ? "" : `: ${found.refusal}`
    }`;
    return { target, outcome: "escaped", reason };
  } finally {
    client.close();
  }
}

/** Looks for a connection from this process's endpoint that another process has accepted. */
async function seenInKernel({ world }: Proof, { family, port }: Flow, own: Endpoint) {
  const text = endpointText(own);
  const held = (await readConnections(world, family))
    .some(({ local, remote }) => local.port === port && endpointText(remote) === text);
  return held ? { proof: `the process that listens on port ${port} has the connection` } : undefined;
}

const sent = new WeakMap<Socket, string>();

/** Sends a token once over the accepted connection. Returns whether the client has received the token. */
function echoes(accepted: Socket | undefined, client: Socket): boolean {
  if (accepted === undefined) return false;
  const expected = sent.get(accepted);
  if (expected === undefined) {
    const fresh = token();
    accepted.send(new TextEncoder().encode(fresh));
    sent.set(accepted, fresh);
    return false;
  }
  return new TextDecoder().decode(client.receive()) === expected;
}

/**
 * Binds to the pod's own address. Otherwise, for a target `::6`, the kernel would choose the proxy's source address.
 */
function bindToPod(client: Socket, { address }: Endpoint): void {
  const isSource = address.family === 4 ? address.value === 0x7f000006n : address.value === 6n;
  const value = address.family === 4 ? 0x7f000001n : 1n;
  client.bind({ address: isSource ? { ...address, value } : address, port: 0 });
}

function openClient(system: SystemCalls, kind: "stream" | "datagram", { family }: Flow, { uid, gid }: Owner): Socket {
  return system.openSocket({
    kind,
    family,
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
}

/** Returns the first target with a route through a captured interface, or the reason why no target has one. */
function reachable({ world, isExcluded }: Proof, { family, targets }: Flow): Endpoint | string {
  const routed = targets.map((target) => ({ target, source: sourceFor(world.system, family, target) }))
    .filter(({ source }) => source !== undefined);
  if (routed.length === 0) return "no route to the target exists, so traffic cannot escape";
  const captured = routed.find(({ source }) => source !== undefined && !isExcluded(source.address));
  return captured?.target ?? "the route leads through an excluded interface";
}

/** Returns the source address for a target by connecting a UDP socket, which sends no packet. */
function sourceFor(system: SystemCalls, family: Family, target: Endpoint): Endpoint | undefined {
  const socket = system.openSocket({ kind: "datagram", family });
  try {
    socket.connect(target);
    return socket.local();
  } catch (error) {
    if (error instanceof SystemError) return undefined;
    throw error;
  } finally {
    socket.close();
  }
}

/** Proves that a DNS query over UDP arrives at the capture port. */
export async function proveQuery(proof: Proof, flow: Flow, port: PortState<OpenDatagramPort>): Promise<FlowResult> {
  const plan = planOf(proof, flow, port);
  if (typeof plan === "string") return notProvable(flow, plan);
  const { target, owner, port: open } = plan;
  if (open === "in use") {
    return notProvable(
      flow,
      `another process uses port ${flow.port}, and the kernel does not record received UDP packets`,
    );
  }
  return await prove(proof, flow, async (end) => {
    const label = token();
    const client = openClient(proof.world.system, "datagram", flow, owner);
    try {
      client.connect(target);
      client.send(queryBytes(label));
      const hasArrived = await until(proof, end, () => open.hasArrived(label) || undefined);
      return hasArrived === true
        ? { target, outcome: "proved", reason: "a DNS query for a random name arrived" }
        : { target, outcome: "escaped", reason: `the DNS query did not arrive at port ${flow.port}` };
    } finally {
      client.close();
    }
  });
}

const HEADER = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
const TYPE_A_CLASS_IN = [0, 1, 0, 1];

/**
 * Encodes a DNS query (RFC 1035) for `LABEL.invalid`, a name that never exists (RFC 6761) even if the query leaves the
 * pod.
 */
export function queryBytes(label: string): Uint8Array {
  const labels = [label, "invalid"].flatMap((each) => [each.length, ...new TextEncoder().encode(each)]);
  return Uint8Array.from([...HEADER, ...labels, 0, ...TYPE_A_CLASS_IN]);
}
