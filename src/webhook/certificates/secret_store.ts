/** Certificates that all replicas agree on, in a Secret. */
import { ConflictError, type KubeApi, type KubeObject } from "../../core/kube/client/api.ts";
import { MeshError } from "../../core/errors.ts";
import { isForeign, MANAGED_BY, type Material, materialOf, secretData } from "./material.ts";
import { type Circumstances, nextRenewal } from "./renewal.ts";

/** The Secret and who uses it. */
export interface SecretStore {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
}

/** What the replicas agree on. */
export interface Agreement {
  readonly material: Material;
  /** Why this replica has written it; `undefined` if it was there. */
  readonly written: string | undefined;
}

const TYPE = "kubernetes.io/tls";
const MAX_ROUNDS = 20;

/**
 * The material in force. What is not there or is due is made and written, which only one replica can do: the API server
 * takes a version of the Secret once, and whoever comes late reads what the other wrote.
 * Errors: a MeshError if the Secret is somebody else's, an ApiError of the cluster.
 */
export async function agree(store: SecretStore, circumstances: Circumstances): Promise<Agreement> {
  let written: string | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const secret = await store.api.get(pathOf(store));
    const held = secret === undefined ? undefined : heldIn(secret, store);
    const next = nextRenewal(held, circumstances);
    if (next === undefined && held !== undefined) return { material: held, written };
    if (next !== undefined && await write(store, secret, next.material)) written = next.reason;
  }
  throw new MeshError(`Cannot agree on the certificates in Secret "${nameOf(store)}": others keep changing it`, {
    hint: "look for another program that writes it",
  });
}

function heldIn(secret: KubeObject, store: SecretStore): Material | undefined {
  if (secret["type"] !== TYPE || isForeign(secret)) {
    throw new MeshError(`Secret "${nameOf(store)}" was not made by this program`, {
      hint: `delete it, or choose another name`,
    });
  }
  return materialOf(secret);
}

/** Whether this replica was first. */
async function write(store: SecretStore, old: KubeObject | undefined, material: Material): Promise<boolean> {
  const data = secretData(material);
  try {
    if (old === undefined) await store.api.create(collectionOf(store), newSecret(store, data));
    else await store.api.replace(pathOf(store), changedSecret(old, data));
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
}

function newSecret({ name, namespace }: SecretStore, data: Record<string, string>): object {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace, labels: MANAGED_BY }, type: TYPE, data };
}

/** Labels and annotations of others stay; the version says what was read. */
function changedSecret(old: KubeObject, data: Record<string, string>): object {
  const { labels } = old.metadata;
  const kept = typeof labels === "object" && labels !== null ? labels : {};
  return { ...old, metadata: { ...old.metadata, labels: { ...kept, ...MANAGED_BY } }, data };
}

/** The Secrets of the namespace. */
export function collectionOf({ namespace }: Pick<SecretStore, "namespace">): string {
  return `/api/v1/namespaces/${namespace}/secrets`;
}

function pathOf(store: SecretStore): string {
  return `${collectionOf(store)}/${store.name}`;
}

function nameOf({ namespace, name }: SecretStore): string {
  return `${namespace}/${name}`;
}
