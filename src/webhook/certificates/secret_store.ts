/** The Secret through which replicas agree on the certificates. */
import { ConflictError, type KubeApi, type Secret } from "../../core/kube/client/mod.ts";
import { MeshError } from "../../core/errors.ts";
import { type CertificateSet, certificatesOf, isForeign, MANAGED_BY, secretData } from "./certificate_set.ts";
import { nextRenewal, type RenewalContext } from "./renewal.ts";

/** The Secret. */
export interface SecretStore {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
}

/** The agreed certificates. */
export interface Agreement {
  readonly certificates: CertificateSet;
  /** Why this replica has written them; `undefined` if another one has. */
  readonly written: string | undefined;
}

const TYPE = "kubernetes.io/tls";
const MAX_ROUNDS = 20;

/**
 * The certificates in force. Renews and writes them if due. The API server accepts one update per version of the Secret, so one
 * replica wins, and the others read its result. Errors: a `MeshError` if another program owns the Secret, an `ApiError`.
 */
export async function agree(store: SecretStore, context: RenewalContext): Promise<Agreement> {
  let written: string | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const secret = await store.api.get(pathOf(store));
    const held = secret === undefined ? undefined : heldIn(secret, store);
    const next = nextRenewal(held, context);
    if (next === undefined && held !== undefined) return { certificates: held, written };
    if (next !== undefined && await write(store, secret, next.certificates)) written = next.reason;
  }
  throw new MeshError(
    `Cannot agree on the certificates in Secret "${nameOf(store)}": another program keeps changing it`,
    {
      hint: "Find the program that writes it",
    },
  );
}

function heldIn(secret: Secret, store: SecretStore): CertificateSet | undefined {
  if (secret.type !== TYPE || isForeign(secret)) {
    throw new MeshError(`Secret "${nameOf(store)}" was not made by this program`, {
      hint: "Delete it, or choose another name",
    });
  }
  return certificatesOf(secret);
}

/** Whether this replica has won. */
async function write(store: SecretStore, old: Secret | undefined, certificates: CertificateSet): Promise<boolean> {
  const data = secretData(certificates);
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

/** Keeps foreign labels and annotations, and the version that was read. */
function changedSecret(old: Secret, data: Record<string, string>): object {
  return { ...old, metadata: { ...old.metadata, labels: { ...old.metadata.labels, ...MANAGED_BY } }, data };
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
