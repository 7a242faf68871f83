/** The node of the demo: it runs each pod scheduled to it, and simulates the controllers of pods and namespaces. */
import { isPod, isService, type Pod, type Query, type WatchEvent } from "../../../src/kube/client/mod.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import type { RunningPod } from "../mesh/support/kubelet/kubelet.ts";
import type { RealMesh } from "../mesh/support/mesh.ts";
import { slicesOf } from "../mesh/support/objects.ts";
import { addServiceAccount } from "../support/cluster/requests.ts";
import { type KubeletNode, type RunningContainer, startKubelet } from "../support/kubelet.ts";

const NAME = "node-1";

/** Milliseconds before a command of `kubectl exec` runs. kubectl drops output that arrives before its streams exist, and says so. */
const DELAY = 100;

/** A node that runs until its process ends. */
export class DemoNode {
  /** The running pods, by `NAMESPACE/POD`. */
  readonly #pods = new Map<string, RunningPod>();

  private constructor(readonly mesh: RealMesh, readonly kubelet: KubeletNode, readonly programs: string) {}

  /** Adds the node to the cluster. Its programs are files in the folder. */
  static async add(mesh: RealMesh, folder: string): Promise<DemoNode> {
    const programs = `${folder}/proxy`;
    await Deno.mkdir(programs);
    const script = `#!/bin/sh\nexec "${MESH_COMMAND}" pilot-agent "$@"\n`;
    await Deno.writeTextFile(`${programs}/pilot-agent`, script, { mode: 0o755 });
    return new DemoNode(mesh, await startKubelet(mesh.parts.cluster, NAME), programs);
  }

  /** Runs existing and new pods of the cluster. Rejects if a pod does not become ready. */
  async run(): Promise<never> {
    const failed = Promise.withResolvers<never>();
    const watch = async (path: string, query: Query, see: (event: WatchEvent) => Promise<unknown> | undefined) => {
      for await (const event of this.mesh.parts.api.watch(path, query, new AbortController().signal)) await see(event);
    };
    const pods = watch("/api/v1/pods", { fieldSelector: `spec.nodeName=${NAME}` }, ({ type, object }) => {
      if (!isPod(object)) return undefined;
      if (type === "ADDED") return this.#add(object, failed.reject);
      if (type === "DELETED") return this.#end(object);
      return object.metadata.deletionTimestamp === undefined ? undefined : this.#remove(object);
    });
    const namespaces = watch("/api/v1/namespaces", {}, ({ type, object: { metadata: { name } } }) => {
      // The namespace may already be gone.
      return type === "ADDED" ? addServiceAccount(this.mesh.parts.cluster, name).catch(() => {}) : undefined;
    });
    for (const each of [pods, namespaces]) each.catch(failed.reject);
    return await failed.promise;
  }

  /** Pods are added one after the other, so that each gets the same address in every run. */
  async #add(pod: Pod, failed: (error: unknown) => void): Promise<void> {
    const running = await this.mesh.place(pod);
    this.#pods.set(keyOf(pod), running);
    this.#start(running).catch((error) => this.#pods.get(keyOf(pod)) === running && failed(error));
  }

  async #start(running: RunningPod): Promise<void> {
    await running.start();
    await this.kubelet.runs(Object.assign({}, ...[...this.#pods].map((each) => this.#containersOf(...each))));
    await running.ready();
    await this.#addToServices(running);
  }

  /** The containers of a pod: the process of the application, and for the proxy `pilot-agent` in the pod's network. */
  #containersOf(key: string, { entrance, options }: RunningPod): Record<string, RunningContainer> {
    const path = Deno.env.get("PATH") ?? "";
    const command = ["nsenter", `--net=${options.network.namespace.path}`];
    const proxy = { command, path: `${this.programs}:${path}`, delay: DELAY };
    return {
      [`${key}/app`]: { command: ["nsenter", ...entrance], path, delay: DELAY },
      ...options.pod.spec?.containers?.some(({ name }) => name === "istio-proxy")
        ? { [`${key}/istio-proxy`]: proxy }
        : {},
    };
  }

  async #addToServices(running: RunningPod): Promise<void> {
    const { api } = this.mesh.parts;
    const { namespace, labels = {} } = running.options.pod.metadata;
    const { items } = await api.list(`/api/v1/namespaces/${namespace}/services`);
    const chosen = items.filter(isService).filter(({ spec: { selector = {} } = {} }) => {
      const pairs = Object.entries(selector);
      return pairs.length > 0 && pairs.every(([key, value]) => labels[key] === value);
    });
    for (const { metadata: { name } } of chosen) {
      for (const { path, body } of slicesOf({ name }, running)) await api.create(path, body);
    }
  }

  /** Deletes the pod object when the pod has ended. */
  async #remove(pod: Pod): Promise<void> {
    await this.#end(pod);
    const { name, namespace } = pod.metadata;
    await this.mesh.parts.api.remove(`/api/v1/namespaces/${namespace}/pods/${name}?gracePeriodSeconds=0`);
  }

  async #end(pod: Pod): Promise<void> {
    const running = this.#pods.get(keyOf(pod));
    this.#pods.delete(keyOf(pod));
    await running?.[Symbol.asyncDispose]();
  }
}

function keyOf({ metadata: { namespace, name } }: Pod): string {
  return `${namespace}/${name}`;
}
