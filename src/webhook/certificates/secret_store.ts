/** The Secret through which replicas agree on the certificates. */
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

/** The Secret. */
export interface SecretStore {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
}

/** The agreed certificates. */
export interface Agreement extends Known {
  /** Why this replica has written them; `undefined` if it has not. */
  readonly written: string | undefined;
  /** The last writer before this replica wrote. */
  readonly writer: string | undefined;
}

/** The certificates of a Secret. */
export interface Known {
  readonly certificates: CertificateSet;
  /** The uid of the Secret: a recreated Secret has another. */
  readonly uid: string;
}

const APPLY = 'apply the output of "kubectl mesh webhook manifests"';
const MAX_ROUNDS = 20;
/** A renewal takes two. */
const MAX_WRITES = 3;

/**
 * The certificates in force. Renews and writes them if due. The API server accepts one update per version of the Secret, so one
 * replica wins, and the others read its result. What another program has removed from the same Secret is written again from
 * `known`: new keys would interrupt what trusts the old ones. The Secret must exist: the right to create one would hold for any
 * name. Errors: a `MeshError` if the Secret is absent or another program owns it, a `ContestedError` if one keeps changing it, an `ApiError`.
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
      ? { certificates: known.certificates, reason: "another program had removed them" }
      : nextRenewal(held, context);
    if (next === undefined && held !== undefined) return { certificates: held, uid, written, writer };
    if (next === undefined || !await write(store, secret, next.certificates)) continue;
    writes++;
    written = next.reason;
    writer ??= lastWriter(secret);
  }
  throw contestedSecret(store, writer);
}

/** Another program writes the Secret whenever this one does. */
export function contestedSecret(
  store: Pick<SecretStore, "namespace" | "name">,
  writer: string | undefined,
): ContestedError {
  return new ContestedError(`Another program keeps changing Secret "${nameOf(store)}"${byWhom(writer)}`, {
    hint: "stop it, or keep the certificates in another Secret",
  });
}

function heldIn(secret: Secret, store: SecretStore): CertificateSet | undefined {
  if (secret.type !== SECRET_TYPE || isForeign(secret)) {
    throw new MeshError(`Secret "${nameOf(store)}" was not made by this program`, {
      hint: "Delete it, or choose another name",
    });
  }
  return certificatesOf(secret);
}

/** Whether this replica has won. */
async function write(store: SecretStore, old: Secret, certificates: CertificateSet): Promise<boolean> {
  try {
    await store.api.replace(pathOf(store), changedSecret(old, secretData(certificates)));
    return true;
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
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

function nameOf({ namespace, name }: Pick<SecretStore, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}
