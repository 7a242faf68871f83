/** Two pods and a control plane between them: three network namespaces on one bridge. */
import { Namespace } from "../../iptables/support/pod.ts";

export const ADDRESS = { plane: "10.197.0.254", a: "10.197.0.1", b: "10.197.0.2" } as const;

/** Removed when the test ends. */
export class Network implements AsyncDisposable {
  private constructor(readonly plane: Namespace, readonly a: Namespace, readonly b: Namespace) {}

  static async create(): Promise<Network> {
    const network = new Network(await Namespace.create(), await Namespace.create(), await Namespace.create());
    const { plane, a, b } = network;
    await plane.shell(
      `ip link set lo up; ip link add br0 type bridge; ip addr add ${ADDRESS.plane}/24 dev br0; ip link set br0 up`,
    );
    for (const [pod, address] of [[a, ADDRESS.a], [b, ADDRESS.b]] as const) {
      await plane.shell(`ip link add to-${address} type veth peer name eth0 netns ${pod.name}`);
      await plane.shell(`ip link set to-${address} master br0 up`);
      await pod.shell(`ip link set lo up; ip addr add ${address}/24 dev eth0; ip link set eth0 up`);
      await pod.shell(`ip route add default via ${ADDRESS.plane}`);
    }
    return network;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of [this.plane, this.a, this.b]) await each[Symbol.asyncDispose]();
  }
}
