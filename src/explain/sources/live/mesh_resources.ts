/** Reads mesh resources with the user's permissions. Reads each kind of a namespace at most once. */
import { apiPath } from "../../../kube/api_path.ts";
import type { ValueMap } from "../../../base/value.ts";
import { ApiError, type KubeConnection } from "../../../kube/client/mod.ts";
import type { MeshResources } from "../../resources/mesh_resources.ts";

const NETWORKING = ["networking.istio.io/v1", "networking.istio.io/v1beta1", "networking.istio.io/v1alpha3"];
const SECURITY = ["security.istio.io/v1", "security.istio.io/v1beta1"];
const GATEWAY_API = ["gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v1beta1"];

/** Plural name of each kind, and the API versions of its group, newest first. */
const KINDS: Readonly<Record<string, readonly [plural: string, versions: readonly string[]]>> = {
  VirtualService: ["virtualservices", NETWORKING],
  DestinationRule: ["destinationrules", NETWORKING],
  ServiceEntry: ["serviceentries", NETWORKING],
  Sidecar: ["sidecars", NETWORKING],
  Gateway: ["gateways", NETWORKING],
  EnvoyFilter: ["envoyfilters", ["networking.istio.io/v1alpha3"]],
  PeerAuthentication: ["peerauthentications", SECURITY],
  AuthorizationPolicy: ["authorizationpolicies", SECURITY],
  RequestAuthentication: ["requestauthentications", SECURITY],
  Telemetry: ["telemetries", ["telemetry.istio.io/v1", "telemetry.istio.io/v1alpha1"]],
  HTTPRoute: ["httproutes", GATEWAY_API],
  GRPCRoute: ["grpcroutes", GATEWAY_API],
  Service: ["services", ["v1"]],
  Pod: ["pods", ["v1"]],
};

export function liveResources(api: Pick<KubeConnection, "list">): MeshResources {
  const known = new Map<string, ReturnType<MeshResources["list"]>>();
  return {
    list(kind, namespace) {
      const key = `${namespace}/${kind}`;
      const reading = known.get(key) ?? listed(api, kind, namespace);
      known.set(key, reading);
      return reading;
    },
  };
}

async function listed(
  api: Pick<KubeConnection, "list">,
  kind: string,
  namespace: string,
): Promise<readonly ValueMap[] | undefined> {
  const [plural, versions] = KINDS[kind] ?? ["", []];
  for (const version of versions) {
    const path = apiPath(`${version.includes("/") ? "apis" : "api"}/${version}`, plural, namespace || undefined);
    try {
      return (await api.list(path)).items;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // An older server does not have this version.
      if (error.status !== 404) break;
    }
  }
  return undefined;
}
