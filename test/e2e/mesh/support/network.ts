/** The machine of the control plane and its pods: network namespaces on one bridge, with addresses of both families. */
import { type Family, Namespace } from "../../iptables/support/pod.ts";

/** The machine: its bridge is the default route of all pods. */
export const MACHINE: Readonly<Record<Family, string>> = { 4: "10.196.0.254", 6: "fd96::254" };

/** A pod's namespace and addresses, the primary family first. */
export interface PodNetwork {
  readonly namespace: Namespace;
  readonly addresses: readonly string[];
}

/** Removed when the test ends. */
export class MeshNetwork implements AsyncDisposable {
  readonly #pods: Namespace[] = [];

  private constructor(readonly machine: Namespace) {}

  static async create(): Promise<MeshNetwork> {
    const machine = await Namespace.create();
    await machine.shell(
      `ip link set lo up; ip link add br0 type bridge; ip link set br0 up; ` +
        `ip addr add ${MACHINE[4]}/24 dev br0; ip addr add ${MACHINE[6]}/64 dev br0 nodad`,
    );
    return new MeshNetwork(machine);
  }

  /** Adds a pod with an address of each family. */
  async add(families: readonly Family[]): Promise<PodNetwork> {
    const namespace = await Namespace.create();
    const number = this.#pods.push(namespace);
    const addresses = families.map((family) => family === 4 ? `10.196.0.${number}` : `fd96::${number}`);
    await this.machine.shell(
      `ip link add pod${number} type veth peer name eth0 netns ${namespace.name}; ip link set pod${number} master br0 up`,
    );
    const setup = families.map((family, index) =>
      family === 4
        ? `ip addr add ${addresses[index]}/24 dev eth0; ip route add default via ${MACHINE[4]}`
        : `ip addr add ${addresses[index]}/64 dev eth0 nodad; ip -6 route add default via ${MACHINE[6]}`
    );
    await namespace.shell(`ip link set lo up; ip link set eth0 up; ${setup.join("; ")}`);
    return { namespace, addresses };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const namespace of [...this.#pods, this.machine]) await namespace[Symbol.asyncDispose]();
  }
}
