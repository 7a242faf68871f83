/** The secrets of the workload itself. */
import type { KeyPair } from "../../core/x509/mod.ts";
import { parseSecretName, type Secret, type Secrets } from "./secret.ts";

/** Who the workload is, as far as its proxy is told. */
export interface SdsIdentity {
  /** Its certificate and key; `undefined` before the first. */
  workload(): KeyPair | undefined;
  /** Whom it trusts, PEM; `undefined` before the first. */
  roots(): string | undefined;
  /** Calls back after each change, until the returned function is called. */
  subscribe(changed: (what: "workload" | "roots") => void): () => void;
  /** Why there is none, or no newer one; `undefined` when all is well. */
  problem(): string | undefined;
}

/** `default` and `ROOTCA`. */
export function identitySecrets(identity: SdsIdentity): Secrets {
  const open = (what: "workload" | "roots", current: () => Secret | undefined, changed: () => void) => ({
    current,
    problem: () => identity.problem(),
    close: identity.subscribe((each) => each === what && changed()),
  });
  return {
    open(name, changed) {
      const kind = parseSecretName(name)?.kind;
      if (kind === "workload") return open(kind, () => workloadSecret(identity), changed);
      return kind === "roots" ? open(kind, () => rootsSecret(identity), changed) : undefined;
    },
  };
}

function workloadSecret(identity: SdsIdentity): Secret | undefined {
  const pair = identity.workload();
  return pair && { kind: "pair", certificate: pair.certificate, key: pair.key };
}

function rootsSecret(identity: SdsIdentity): Secret | undefined {
  const authorities = identity.roots();
  return authorities === undefined ? undefined : { kind: "authorities", authorities };
}
