/** Proof of flows that begin in the pod: a connection, or a DNS query, of a user whom the rules are about. */
import type { Endpoint, Socket, SystemCalls } from "../../../core/world/mod.ts";
import { SystemError } from "../../../core/world/mod.ts";
import type { Family } from "../../plan/rule.ts";
import { type Attempt, type Proof, prove, until } from "./attempt.ts";
import { queryBytes, token } from "./dns_query.ts";
import type { Flow, FlowResult, Owner } from "../flow.ts";
import { endpointText, type OpenDatagramPort, type OpenPort, type PortState } from "./ports.ts";
import { readConnections } from "./proc_net.ts";

/** Proves that a TCP connection arrives. */
export async function proveConnection(proof: Proof, flow: Flow, state: PortState): Promise<FlowResult> {
  const { owner } = flow;
  if (typeof owner === "string") return notProvable(flow, owner);
  if (typeof state === "object" && "reason" in state) return notProvable(flow, `port ${flow.port}: ${state.reason}`);
  const target = reachable(proof, flow);
  if (typeof target === "string") return notProvable(flow, target);
  return await prove(proof, flow, (end) => attemptConnection(proof, flow, { target, owner, state, end }));
}

function notProvable(flow: Flow, reason: string): FlowResult {
  return { flow, target: flow.targets[0], outcome: "not provable", reason };
}

interface Way {
  readonly target: Endpoint;
  readonly owner: Owner;
  readonly state: OpenPort | "in use";
  readonly end: number;
}

async function attemptConnection(proof: Proof, flow: Flow, { target, owner, state, end }: Way): Promise<Attempt> {
  const client = openClient(proof.world.system, "stream", flow, owner);
  try {
    if (flow.kind === "proxy to itself") bindToPod(client, target);
    client.connect(target);
    const own = client.local();
    const found = await until(proof, end, async () => {
      const failure = client.failure();
      if (failure !== 0) return { refusal: new SystemError(endpointText(target), failure).message };
      if (state === "in use") return await seenInKernel(proof, flow, own);
      return echoes(state.take(own), client) ? { proof: "a random token came back from it" } : undefined;
    });
    if (found !== undefined && "proof" in found) return { target, outcome: "proved", reason: found.proof };
    const reason = `it did not arrive at port ${flow.port}${found === undefined ? "" : `: ${found.refusal}`}`;
    return { target, outcome: "escaped", reason };
  } finally {
    client.close();
  }
}

/** A connection that another process took is shown by the kernel, with our end of it as the other one's. */
async function seenInKernel({ world }: Proof, { family, port }: Flow, own: Endpoint) {
  const text = endpointText(own);
  const held = (await readConnections(world, family))
    .some(({ local, remote }) => local.port === port && endpointText(remote) === text);
  return held ? { proof: `the process that listens on port ${port} has it` } : undefined;
}

const sent = new WeakMap<Socket, string>();

/** The token is sent as soon as the connection is there, and awaited at the other end. */
function echoes(accepted: Socket | undefined, client: Socket): boolean {
  if (accepted === undefined) return false;
  const word = sent.get(accepted);
  if (word === undefined) {
    const fresh = token();
    accepted.send(new TextEncoder().encode(fresh));
    sent.set(accepted, fresh);
    return false;
  }
  return new TextDecoder().decode(client.receive()) === word;
}

/** From the pod's own address: the kernel would take the proxy's source address for `::6`. */
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

/** The first target that can be reached through what is captured; in words why there is none. */
function reachable({ world, isExcluded }: Proof, { family, targets }: Flow): Endpoint | string {
  const routed = targets.map((target) => ({ target, source: sourceFor(world.system, family, target) }))
    .filter(({ source }) => source !== undefined);
  if (routed.length === 0) return "no route leads there, so that nothing can escape either";
  const captured = routed.find(({ source }) => source !== undefined && !isExcluded(source.address));
  return captured?.target ?? "the way there leads through an interface that is excluded";
}

/** The address that packets to a target come from, found without one: a connected UDP socket sends none. */
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

/** Proves that a DNS query over UDP arrives. */
export async function proveQuery(
  proof: Proof,
  flow: Flow,
  state: OpenDatagramPort | "in use" | { readonly reason: string },
): Promise<FlowResult> {
  const { owner } = flow;
  if (typeof owner === "string") return notProvable(flow, owner);
  if (state === "in use") return notProvable(flow, `another process has port ${flow.port}, and UDP leaves no trace`);
  if ("reason" in state) return notProvable(flow, `port ${flow.port}: ${state.reason}`);
  const target = reachable(proof, flow);
  if (typeof target === "string") return notProvable(flow, target);
  return await prove(proof, flow, async (end) => {
    const word = token();
    const client = openClient(proof.world.system, "datagram", flow, owner);
    try {
      client.connect(target);
      client.send(queryBytes(word));
      const found = await until(proof, end, () => state.hasArrived(word) || undefined);
      return found === true
        ? { target, outcome: "proved", reason: "a query for a random name came in" }
        : { target, outcome: "escaped", reason: `a query did not arrive at port ${flow.port}` };
    } finally {
      client.close();
    }
  });
}
