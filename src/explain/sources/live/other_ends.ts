/** Finds the pods behind endpoints through the API server. */
import { apiPath } from "../../../kube/api_path.ts";
import { ApiError, isPod, type KubeConnection, type KubeObject, type Pod } from "../../../kube/client/mod.ts";
import { errorText } from "../../../base/errors.ts";
import { intAt, listAt, mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import { joinHostPort, parseAddress } from "../../../golang/net/mod.ts";
import type { Ends } from "../../ends/both_ends.ts";
import type { OtherEnd } from "../../ends/server_end.ts";
import type { Snapshot } from "../../snapshot/snapshot.ts";

type Api = Pick<KubeConnection, "get" | "list">;

/** Finds pods with the user's permissions. `read` returns a snapshot of a pod. */
export function liveEnds(api: Api, read: (pod: Pod) => Promise<Snapshot>): Ends {
  return {
    isOneCluster: true,
    async podAt(address, namespace): Promise<OtherEnd> {
      const path = apiPath("api/v1", "pods", namespace);
      const found = await permitted(() => podsAt(api, path, address, namespace !== undefined));
      if (typeof found === "string") return { why: found };
      const [pod, ...others] = found;
      if (others.length > 0) {
        return { why: `${found.length} pods that use the host's network have the address ${address}` };
      }
      if (pod !== undefined) return { snapshot: await read(pod) };
      const where = namespace === undefined ? "" : ` in the namespace "${namespace}"`;
      const why =
        `no pod${where} has the address ${address}: the pod was deleted, or the address is outside of the cluster`;
      return { why, isOutside: true };
    },
    async endpointsOf(host, port, namespace) {
      const [name = "", own = namespace, kind = "svc"] = host.split(".");
      if (kind !== "svc" || typeof parseAddress(host) !== "string") return `"${host}" is not the name of a Service`;
      const service = await permitted(() => api.get(apiPath("api/v1", "services", own, name)));
      if (typeof service === "string") return service;
      if (service === undefined) return `the Service ${own}/${name} does not exist`;
      const labelSelector = `kubernetes.io/service-name=${name}`;
      const slices = await permitted(() =>
        api.list(apiPath("apis/discovery.k8s.io/v1", "endpointslices", own), { labelSelector })
      );
      if (typeof slices === "string") return slices;
      const ports = mapsAt(mapAt(service, "spec"), "ports");
      const wanted = ports.find((each) => intAt(each, "port") === port);
      if (wanted === undefined) {
        const has = ports.map((each) => intAt(each, "port")).join(", ");
        return `the Service ${own}/${name} has only ${ports.length === 1 ? "the port" : "the ports"} ${has}`;
      }
      const found = slices.items.flatMap((slice) => addressesOf(slice, textAt(wanted, "name")));
      return found.length > 0 ? found : `the Service ${own}/${name} has no ready endpoints`;
    },
  };
}

/** Returns the running pods with this address. The field selector matches only the first of a pod's addresses. */
async function podsAt(api: Api, path: string, address: string, isNamespace: boolean): Promise<readonly Pod[]> {
  const fieldSelector = `status.podIP=${address}`;
  const first = lasting((await api.list(path, { fieldSelector })).items);
  if (first.length > 0 || !isNamespace) return first;
  const all = lasting((await api.list(path)).items);
  return all.filter(({ status }) => status?.podIPs?.some(({ ip }) => ip === address) === true);
}

function lasting(items: readonly KubeObject[]): readonly Pod[] {
  return items.filter(isPod).filter(({ status }) => !/Succeeded|Failed/.test(status?.phase ?? ""));
}

/** Returns the ready endpoints in an EndpointSlice, as `ADDRESS:PORT`. `name` is the name of the port. */
function addressesOf(slice: ValueMap, name: string): string[] {
  const port = mapsAt(slice, "ports").find((each) => textAt(each, "name") === name);
  const number = port === undefined ? undefined : intAt(port, "port");
  if (number === undefined) return [];
  return mapsAt(slice, "endpoints").filter((each) => mapAt(each, "conditions")["ready"] !== false).flatMap((each) =>
    listAt(each, "addresses").slice(0, 1).map((address) => joinHostPort(String(address), number))
  );
}

/** Returns the result of `ask`, or a message about a missing permission. */
async function permitted<T>(ask: () => Promise<T>): Promise<T | string> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    return errorText(error);
  }
}
