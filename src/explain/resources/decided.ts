/** Completes an answer with the deciding resource, its field, and the command that changes the field. */
import type { Answer } from "../answer_schema.ts";
import type { ValueMap } from "../../base/value.ts";
import type { Cause, Search } from "./cause.ts";
import type { Finding } from "./change.ts";
import { type MeshResources, resourceAt } from "./mesh_resources.ts";
import { destination, missingBackend, ownAnswer } from "./find/routes.ts";
import { gatewayServer, serviceEntry } from "./find/hosts.ts";
import { authorizationRules, peerAuthentication, requestAuthentication } from "./find/security.ts";
import { sidecarEgress, sidecarIngress } from "./find/sidecar.ts";
import { subsetLabels, trafficPolicy } from "./find/destination_rule.ts";
import { writerOf } from "./find/by_text.ts";

/** An answer with the cause from Envoy's configuration, before the search in the API server. */
export type OpenAnswer = Answer & { readonly cause?: Cause | undefined };

/**
 * Returns the answer with the resource that Envoy's configuration names. Names no resource if it may be a Sidecar: the
 * configuration does not say whether there is one.
 */
export function withoutApi({ cause, ...answer }: OpenAnswer): Answer {
  if (cause === undefined || cause.search.by === "egress") return answer;
  const { kind, namespace, name, field } = cause;
  return { ...answer, decided: { kind, namespace, name, field } };
}

/** Returns the answer with the resource from the API server, or else the resource that Envoy's configuration names. */
export async function withApi(answer: OpenAnswer, resources: MeshResources): Promise<Answer> {
  const { cause } = answer;
  const found = await findAny([cause, cause?.otherwise], resources);
  if (found === undefined) return withoutApi(answer);
  const { fix, reason = "", ...decided } = found;
  const said = reason === "" ? answer.reason : `${answer.reason}; ${reason}`;
  return { ...withoutApi(answer), decided, fix: cause?.keepsFix === true ? answer.fix : fix, reason: said };
}

async function findAny(causes: readonly (Cause | undefined)[], resources: MeshResources): Promise<Finding | undefined> {
  for (const cause of causes) {
    const found = cause === undefined ? undefined : await find(cause, resources);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function find(cause: Cause, resources: MeshResources): Promise<Finding | undefined> {
  const { namespace, search } = cause;
  switch (search.by) {
    case "mtls":
      return await peerAuthentication(resources, search);
    case "token":
      return await requestAuthentication(resources, search);
    case "host":
      return await serviceEntry(resources, namespace, search);
    case "egress":
      return await sidecarEgress(resources, search);
    case "text":
      return await writerOf(resources, search);
    case "server":
      return await gatewayServer(resources, search);
    default: {
      const object = await resourceAt(resources, cause);
      return object === undefined ? undefined : await findIn(object, search, resources);
    }
  }
}

async function findIn(object: ValueMap, search: Search, resources: MeshResources): Promise<Finding | undefined> {
  switch (search.by) {
    case "policy":
      return trafficPolicy(object, search);
    case "labels":
      return await subsetLabels(resources, object, search);
    case "destination":
      return destination(object, search);
    case "route":
      return object["kind"] === "VirtualService" ? ownAnswer(object, search) : await missingBackend(resources, object);
    case "rules":
      return authorizationRules(object, search);
    case "ingress":
      return sidecarIngress(object, search);
    default:
      return undefined;
  }
}
