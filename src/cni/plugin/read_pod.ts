/** Reads the pod of a request from the API server. */
import { apiPath } from "../../kube/api_path.ts";
import { errorText } from "../../base/errors.ts";
import { connect, type KubeObject } from "../../kube/client/mod.ts";
import type { Logger } from "../../platform/log.ts";
import { logText } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { CniError, CODE } from "./failure.ts";
import type { PodName } from "./request.ts";

export const KUBECONFIG = "mesh-cni-kubeconfig";

/** The plugin tries for 30 seconds, as istio-cni does. If it gives up, the kubelet starts the pod again. */
const TIMEOUT = 30_000;
const INTERVAL = 1000;
const REQUEST = 10_000;

/**
 * Reads a pod with the kubeconfig of the installer. Reads the kubeconfig for each try, because the installer renews its
 * token. Rejects with a `CniError` after 30 seconds.
 */
export async function readPod(world: World, log: Logger, folder: string, pod: PodName): Promise<KubeObject> {
  const { clock } = world;
  const end = clock.monotonic() + TIMEOUT;
  for (;;) {
    const problem = await tryToRead(world, folder, pod);
    if (typeof problem !== "string") return problem;
    log.info(logText(problem));
    if (clock.monotonic() + INTERVAL > end) {
      const message = `Cannot read the pod "${pod.namespace}/${pod.name}" to capture its traffic: ${problem}`;
      throw new CniError(CODE.tryAgain, message, "check the pod of the DaemonSet mesh-cni-node on this node");
    }
    await clock.sleep(INTERVAL);
  }
}

/** Returns the pod, or the reason why reading it failed. */
async function tryToRead(world: World, folder: string, { namespace, name }: PodName): Promise<KubeObject | string> {
  const kubeconfig = `${folder}/${KUBECONFIG}`;
  if (await world.files.stat(kubeconfig) === undefined) {
    return `the installer has not written "${kubeconfig}" since the node started`;
  }
  try {
    const client = await connect(world, { kubeconfig, requestTimeout: REQUEST });
    try {
      return await client.get(apiPath("api/v1", "pods", namespace, name)) ?? "the pod does not exist on the API server";
    } finally {
      client.close();
    }
  } catch (error) {
    return errorText(error);
  }
}
