/** The process of a worker: it answers reviews. It cannot read files, open other connections or start programs. */
import { EXIT, MeshError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { type Injector } from "../../inject/mod.ts";
import { injectorOf } from "../sources/injector_of.ts";
import type { ReviewContext } from "../review/pod_injection.ts";
import { ProxyConfigs } from "../review/proxy_configs.ts";
import { startupMemory } from "../release_memory.ts";
import { ReviewMemo } from "../review/memo/memo.ts";
import { reviewPod } from "../review/review_pod.ts";
import { encodeFrame, type Frame, FrameReader, messagesOf, senderOn } from "./frames.ts";
import { readCluster, readConfiguration } from "./messages.ts";

/** Answers the reviews of its parent in order, until the connection ends; returns the exit code. */
export async function runWorker(world: World): Promise<number> {
  const release = startupMemory(world);
  world.permissions.keepOnly(["env", "net", "ffi"]);
  const { port, token } = await invitation(world);
  const connection = await world.network.dial({
    host: "127.0.0.1",
    port,
    tls: undefined,
    signal: AbortSignal.timeout(TIME),
  });
  world.permissions.keepOnly(["env"]);
  const send = senderOn(connection);
  send(encodeFrame({ kind: "hello", head: token }));
  const state: State = { world, send, injector: undefined, cluster: {}, memo: new ReviewMemo() };
  void release(new AbortController().signal);
  for await (const frame of messagesOf(connection)) await HANDLERS[frame.kind](state, frame);
  return EXIT.ok;
}

/** Milliseconds to connect on loopback. */
const TIME = 10_000;

/** The port of the pool, and the token that identifies this process: the first message on standard input. */
async function invitation({ stdin }: World): Promise<{ readonly port: number; readonly token: string }> {
  const reader = new FrameReader();
  for await (const piece of stdin.chunks()) {
    const [first] = reader.push(piece);
    if (first?.kind === "connect") return { port: first.id, token: first.head };
  }
  throw new MeshError("Only the webhook starts workers", { hint: "use webhook serve" });
}

/** The inputs from the pool. */
interface State {
  readonly world: World;
  readonly send: (message: Uint8Array) => void;
  readonly memo: ReviewMemo;
  injector: Injector | undefined;
  cluster: Pick<ReviewContext, "proxyConfigs" | "namespace" | "nodes">;
}

type Handler = (state: State, frame: Frame) => void | Promise<void>;

const HANDLERS: Readonly<Record<Frame["kind"], Handler>> = {
  async configuration(state, { head }) {
    const isFirst = state.injector === undefined;
    state.injector = await injectorOf(readConfiguration(head), state.world);
    if (isFirst) state.send(encodeFrame({ kind: "ready" }));
  },
  cluster(state, { head }) {
    const { proxyConfigs, annotationsOf, nodes } = readCluster(head);
    state.cluster = {
      proxyConfigs: new ProxyConfigs(proxyConfigs),
      nodes,
      namespace: (name) => ({
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name, annotations: annotationsOf(name) },
      }),
    };
  },
  review({ injector, cluster, memo, send }, { id, head: path, body }) {
    if (injector === undefined) throw new TypeError("a review came before the configuration");
    const { body: answer, ...result } = reviewPod(body, { ...cluster, injector, path }, memo);
    send(encodeFrame({ kind: "reviewed", id, head: JSON.stringify(result), body: encoder.encode(answer) }));
  },
  connect: unexpected,
  hello: unexpected,
  ready: unexpected,
  reviewed: unexpected,
};

const encoder = new TextEncoder();

function unexpected(_state: State, { kind }: Frame): never {
  throw new TypeError(`a worker does not accept the message "${kind}"`);
}
