/** A mesh of two pods and a control plane. */
import type { Behaviour } from "./control_plane.ts";
import { ControlPlane } from "./control_plane.ts";
import { Network } from "./network.ts";
import { MeshedPod, type PodName, type PodStart } from "./pod.ts";
import { answeringResources, askingResources, spiffe } from "./resources.ts";

/** Two pods: the client `a` and the server `b`. Their agents are not started yet. */
export class Mesh implements AsyncDisposable {
  private constructor(
    readonly network: Network,
    readonly plane: ControlPlane,
    readonly a: MeshedPod,
    readonly b: MeshedPod,
  ) {}

  static async create(behaviour: Behaviour = {}): Promise<Mesh> {
    await using cleanup = new AsyncDisposableStack();
    const network = cleanup.use(await Network.create());
    const plane = cleanup.use(await ControlPlane.start(network.plane));
    const a = cleanup.use(await MeshedPod.create("a", network.a));
    const b = cleanup.use(await MeshedPod.create("b", network.b));
    const mesh = new Mesh(network, plane, a, b);
    await plane.behave(behaviour);
    await plane.accept({ "token-of-a": spiffe("a"), "token-of-b": spiffe("b") });
    await plane.give("a.test", askingResources());
    await plane.give("b.test", answeringResources());
    for (const pod of mesh.pods) await pod.writeToken(`token-of-${pod.name}`);
    await mesh.writeRoots();
    cleanup.move();
    return mesh;
  }

  get pods(): readonly MeshedPod[] {
    return [this.a, this.b];
  }

  /** Replaces the roots of the ConfigMap in both pods. */
  async writeRoots(): Promise<void> {
    const roots = await this.plane.roots();
    for (const pod of this.pods) await pod.writeRoots(roots);
  }

  /** Captures the traffic of both pods, and starts applications and agents. Resolves when both are ready. */
  async startBoth(start: PodStart = {}, args: readonly string[] = ["agent"]) {
    const startOne = async (name: PodName) => {
      const pod = this[name];
      await pod.capture();
      await pod.application();
      return await pod.startReady(args, start);
    };
    const [a, b] = await Promise.all([startOne("a"), startOne("b")]);
    return { a, b };
  }

  /** A request from application `a` to application `b`, on a new connection. */
  async ask(path = "/headers") {
    return await (await this.a.application()).ask(`http://${this.b.address}:8080${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pod of this.pods) await pod[Symbol.asyncDispose]();
    await this.plane[Symbol.asyncDispose]();
    await this.network[Symbol.asyncDispose]();
  }
}
