/** Lets replicas agree on certificates through a Secret. */
import { apiPath } from "../../kube/api_path.ts";
import { ConflictError, type KubeApi, type Secret } from "../../kube/client/mod.ts";
import { MeshError } from "../../base/errors.ts";
import { textAt } from "../../base/value.ts";
import {
  type CertificateSet,
  certificatesOf,
  isForeign,
  MANAGED_BY,
  SECRET_TYPE,
  secretData,
} from "./certificate_set.ts";
import { byWhom, ContestedError, lastWriter } from "./last_writer.ts";
import { nextRenewal, type RenewalContext } from "./renewal.ts";

export interface SecretStore {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
}

export interface Agreement extends Known {
  /** Why this replica wrote the certificates; `undefined` if it did not write. */
  readonly written: string | undefined;
  /** Name of the program that wrote the Secret last, before this replica. */
  readonly writer: string | undefined;
}

export interface Known {
  readonly certificates: CertificateSet;
  /** UID of the Secret. A recreated Secret has another UID. */
  readonly uid: string;
}

const APPLY = 'apply the output of "kubectl mesh webhook manifests"';
const MAX_ROUNDS = 20;
/** Maximum number of writes. A renewal may need two. */
const MAX_WRITES = 3;

/**
 * Returns the certificates in force, and renews them if due. The API server accepts one update per version of the
 * Secret, so one replica wins and the others read its result. If another program removes data from the Secret, writes
 * `known` again, because clients trust its CA. The Secret must exist, because the webhook has no permission to create
 * Secrets. Rejects with a `MeshError` if the Secret is missing or belongs to another program, with a `ContestedError`
 * if another program keeps changing it, and with an `ApiError`.
 */
export async function agree(store: SecretStore, context: RenewalContext, known?: Known): Promise<Agreement> {
  let written: string | undefined;
  let writer: string | undefined;
  for (let round = 0, writes = 0; round < MAX_ROUNDS && writes < MAX_WRITES; round++) {
    const secret = await store.api.get(pathOf(store));
    if (secret === undefined) throw new MeshError(`Secret "${nameOf(store)}" does not exist`, { hint: APPLY });
    const uid = textAt(secret.metadata, "uid");
    const held = heldIn(secret, store);
    const next = held === undefined && known?.uid === uid
      ? { certificates: known.certificates, reason: "another program had removed the certificates" }
      : nextRenewal(held, context);
    if (next === undefined && held !== undefined) return { certificates: held, uid, written, writer };
    if (next === undefined || !await write(store, secret, next.certificates)) continue;
    writes++;
    written = next.reason;
    writer ??= lastWriter(secret);
  }
  throw contestedSecret(store, writer);
}

/** Builds the error for a Secret that another program keeps changing. */
export function contestedSecret(
  store: Pick<SecretStore, "namespace" | "name">,
  writer: string | undefined,
): ContestedError {
  return new ContestedError(`Another program keeps changing Secret "${nameOf(store)}"${byWhom(writer)}`, {
    hint: "stop the other program, or keep the certificates in another Secret",
  });
}

function heldIn(secret: Secret, store: SecretStore): CertificateSet | undefined {
  if (secret.type !== SECRET_TYPE || isForeign(secret)) {
    throw new MeshError(`Secret "${nameOf(store)}" is not managed by kubectl-mesh`, {
      hint: "delete the Secret, or choose another name",
    });
  }
  return certificatesOf(secret);
}

/** Writes the Secret. Returns false if another replica wrote first. */
async function write(store: SecretStore, old: Secret, certificates: CertificateSet): Promise<boolean> {
  try {
    await store.api.replace(pathOf(store), changedSecret(old, secretData(certificates)));
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
}

/** Builds the updated Secret. Keeps its labels, annotations and resource version. */
function changedSecret(old: Secret, data: Record<string, string>): object {
  return { ...old, metadata: { ...old.metadata, labels: { ...old.metadata.labels, ...MANAGED_BY } }, data };
}

/** API path of the namespace's Secrets. */
export function collectionOf({ namespace }: Pick<SecretStore, "namespace">): string {
  return apiPath("api/v1", "secrets", namespace);
}

function pathOf(store: SecretStore): string {
  return apiPath("api/v1", "secrets", store.namespace, store.name);
}

function nameOf({ namespace, name }: Pick<SecretStore, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}
