/**
 * Simulates what is behind the webhook's Service: the controllers of Deployments and EndpointSlices, the scheduler,
 * the kubelet and kube-proxy. They read the objects, and do not know the advice.
 */
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../../src/base/value.ts";
import { containersOf } from "../../../../src/inject/mod.ts";
import { meshObjects } from "../../../support/kube/mesh_webhooks.ts";
import { freePort } from "../../../support/ports.ts";
import { current, got, removed } from "../../support/cluster/requests.ts";
import { at, type Breakage, type Expected } from "./breaking.ts";
import { notRestarted } from "./controllers.ts";
import { named } from "./editor.ts";
import { unscheduled, withoutImage } from "./node.ts";
import {
  CONTROL_PLANE,
  endpointsOf,
  FLAGS,
  type MeshCluster,
  objectNamed,
  routedHere,
  runPod,
  serviceTo,
  WEBHOOK,
} from "./mesh_cluster.ts";

/** The broken parts. */
interface Broken {
  /** Whether the Deployment is missing. */
  readonly isGone?: true;
  /** Changed fields of the Deployment's spec. */
  readonly deployment?: ValueMap;
  /** Changed fields of its container. */
  readonly container?: ValueMap;
  /** The Service's selector; by default it matches the Deployment's pods. */
  readonly selector?: ValueMap;
  /** The target port of the Service, if it is one on which nothing listens. */
  readonly targetPort?: number;
  /** Free CPU of the nodes, in millicores. */
  readonly freeCpu?: bigint;
  /** Matches the images in the registry. */
  readonly images?: RegExp;
  /** What pods of the current template have stopped doing. */
  readonly ceased?: "be ready" | "listen";
}

/** Breaks the webhook's Deployment or Service. */
export function behindService(broken: Broken, expected: Expected): Breakage {
  const controllers = new Controllers(broken);
  return {
    make: (mesh) => controllers.install(mesh),
    reacts: (mesh) => controllers.control(mesh),
    heal: (mesh) => controllers.remove(mesh),
    ...expected,
  };
}

const POD = { apiVersion: "v1", kind: "Pod", metadata: { name: `${WEBHOOK}-5d4f-x`, namespace: CONTROL_PLANE } };

class Controllers {
  readonly #broken: Broken;
  /** The pod template of the first pods. */
  #first = "";

  constructor(broken: Broken) {
    this.#broken = broken;
  }

  async install(mesh: MeshCluster): Promise<void> {
    const { isGone, selector, deployment = {}, container = {}, targetPort, ceased } = this.#broken;
    const whole = deploymentWith({ replicas: 1, ...deployment }, container);
    await mesh.apply(whole);
    const isClosed = targetPort !== undefined || ceased === "listen";
    const port = isClosed ? freePort() : mesh.webhook.port;
    const labels = mapAt(mapAt(mapAt(whole, "spec"), "selector"), "matchLabels");
    const ports = [{ name: "https-webhook", port, targetPort: targetPort ?? "https-webhook" }];
    const service = serviceTo(port);
    await mesh.apply({ ...service, spec: { ...mapAt(service, "spec"), ports, selector: selector ?? labels } });
    this.#first = JSON.stringify(templateOf(await deploymentIn(mesh)));
    if (isGone) await removed(mesh.cluster, DEPLOYMENT);
    if (isClosed) await mesh.register((webhook) => ({ ...webhook, clientConfig: at(webhook, { port }) }));
    await this.control(mesh);
  }

  async control(mesh: MeshCluster): Promise<void> {
    const template = templateOf(await deploymentIn(mesh));
    const spec = mapAt(await current(mesh.cluster, objectNamed("Service", WEBHOOK, CONTROL_PLANE)), "spec");
    const states = await this.#run(mesh, mapAt(spec, "selector"));
    const [{ port = 0, targetPort = 0 } = {}] = mapsAt(spec, "ports");
    const [opened] = containersOf(template, "containers").flatMap((each) => mapsAt(each, "ports"))
      .filter(({ name, containerPort }) => name === "https-webhook" && [name, containerPort].includes(targetPort));
    await mesh.apply(endpointsOf(states, Number(opened?.["containerPort"] ?? targetPort)));
    const isListening = states.includes("ready") && !(this.#isOld(template) && this.#broken.ceased === "listen");
    if (opened !== undefined && isListening && Number(port) !== mesh.webhook.port) {
      await routedHere(mesh);
      await mesh.register();
    }
  }

  /** Runs at most one pod, which is enough for a Service. Returns the states of the pods that the Service selects. */
  async #run(mesh: MeshCluster, selector: ValueMap): Promise<readonly ("ready" | "waiting")[]> {
    await removePods(mesh);
    const deployment = await deploymentIn(mesh);
    if (Number(mapAt(deployment, "spec")["replicas"] ?? 0) === 0) return [];
    const template = templateOf(deployment);
    const status = this.#statusOf(template);
    const metadata = mapAt(template, "metadata");
    const spec = { ...mapAt(template, "spec"), automountServiceAccountToken: false };
    await runPod(mesh, { ...POD, metadata: { ...metadata, ...POD.metadata }, spec }, status);
    const labels = mapAt(metadata, "labels");
    const isSelected = Object.entries(selector).every(([key, value]) => labels[key] === value);
    return isSelected ? [status.isReady ? "ready" : "waiting"] : [];
  }

  #isOld(template: ValueMap): boolean {
    return JSON.stringify(template) === this.#first;
  }

  #statusOf(template: ValueMap) {
    const { freeCpu, images, ceased } = this.#broken;
    const [container = {}] = containersOf(template, "containers");
    const image = textAt(container, "image");
    const status = unscheduled(template, freeCpu);
    if (status !== undefined) return { isReady: false, status };
    const others = withoutImage(image, images);
    if (others !== undefined) return { isReady: false, others };
    const isReady = !(this.#isOld(template) && ceased === "be ready");
    return { isReady, others: { ready: isReady } };
  }

  async remove(mesh: MeshCluster): Promise<void> {
    await removePods(mesh);
    await routedHere(mesh);
    await mesh.apply(endpointsOf(["ready"], mesh.webhook.port));
    await mesh.apply(deploymentWith({}, {}));
    await notRestarted(mesh);
    await mesh.register();
  }
}

async function removePods({ cluster }: MeshCluster): Promise<void> {
  const { items } = await got(cluster, `/api/v1/namespaces/${CONTROL_PLANE}/pods`);
  const pods = Array.isArray(items) ? items.filter(isMap) : [];
  if (pods.some((each) => mapAt(each, "metadata")["name"] === POD.metadata.name)) await removed(cluster, POD);
}

const DEPLOYMENT = objectNamed("Deployment", WEBHOOK, CONTROL_PLANE);

/** Returns the Deployment; an empty map if it does not exist. */
async function deploymentIn({ cluster }: MeshCluster): Promise<ValueMap> {
  const { items } = await got(cluster, `/apis/apps/v1/namespaces/${CONTROL_PLANE}/deployments`);
  const all = Array.isArray(items) ? items.filter(isMap) : [];
  return all.find((each) => mapAt(each, "metadata")["name"] === WEBHOOK) ?? {};
}

function templateOf(deployment: ValueMap): ValueMap {
  return mapAt(mapAt(deployment, "spec"), "template");
}

/** The Deployment from `webhook manifests`, with changed fields in its spec and in its container. */
function deploymentWith(fields: ValueMap, container: ValueMap): ValueMap {
  const found: ValueMap = { ...meshObjects({ flags: FLAGS }).find(({ kind }) => kind === "Deployment") };
  const spec = mapAt(found, "spec");
  const template = templateOf(found);
  const containers = containersOf(template, "containers").map((each) => ({ ...each, ...container }));
  const changed = { ...template, spec: { ...mapAt(template, "spec"), containers } };
  return { ...found, spec: { ...spec, template: changed, ...fields } };
}

const CLOSED = { expect: { "webhook-reachable": "error" } } as const;
const NOT_READY = { expect: { "webhook-endpoints": "error" } } as const;

/** Broken parts, by name. */
export const SERVING: Readonly<Record<string, Breakage>> = {
  "no pod that is ready: it has no replicas": behindService({ deployment: { replicas: 0 } }, {
    ...NOT_READY,
    says: /: has no pods: its Deployment "kubectl-mesh-webhook" has 0 replicas\nfix: scale it to one replica/,
  }),
  "no pod that is ready: its Deployment is gone": behindService({ isGone: true }, {
    ...NOT_READY,
    says:
      /: has no pods: no Deployment creates pods that it selects\nfix: recreate the object with the flags of its installation/,
  }),
  "no pod that is ready: the Service selects others": behindService({ selector: { app: "istiod" } }, {
    ...NOT_READY,
    says:
      /: has no pods: it selects app=istiod, but the pods of the Deployment "kubectl-mesh-webhook" do not have these labels/,
  }),
  "no pod that is ready: no free CPU": behindService({ freeCpu: 50n }, {
    ...NOT_READY,
    says: /has no ready pod: 1 not ready: its pod .*Insufficient cpu\.\nfix: lower its requests to cpu 10m/,
  }),
  "no pod that is ready: no such image": behindService(
    { images: /:1$/, container: { image: "example.com/kubectl-mesh:one" } },
    {
      ...NOT_READY,
      says: /has no ready pod: 1 not ready: its pod .* cannot pull the image "example\.com\/kubectl-mesh:one"/,
      writer: named(/cannot pull the image "example\.com\/kubectl-mesh:one"/, /kubectl-mesh:one/g, "kubectl-mesh:1"),
    },
  ),
  "no pod that is ready: it hangs": behindService({ ceased: "be ready" }, {
    ...NOT_READY,
    says:
      /has no ready pod: 1 not ready: the container "webhook" of its pod .* runs but is not ready\nnext: see its log/,
    picks: /restart it, if its log shows no other cause/,
  }),
  "the port is closed: the Service leads elsewhere": behindService({ targetPort: 15010 }, {
    ...CLOSED,
    says:
      /connection refused\nno process listens on port 15010\nfix: change the targetPort of port \d+ of the Service from \d+ to 15017/,
  }),
  "the port is closed: its pods hang": behindService({ ceased: "listen" }, {
    ...CLOSED,
    says: /connection refused\nno process listens on port 15017\nnext: see its log/,
    picks: /restart it, if its log shows no other cause/,
  }),
};
