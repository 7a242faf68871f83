/** The secrets `default` and `ROOTCA` of the workload itself. */
import type { KeyPair } from "../../core/x509/mod.ts";
import { parseSecretName, type Secret, type Secrets } from "./secret.ts";

/** The identity as SDS sees it. */
export interface SdsIdentity {
  /** Certificate and key; `undefined` before the first. */
  workload(): KeyPair | undefined;
  /** Root certificates in PEM; `undefined` before the first. */
  roots(): string | undefined;
  /** Calls back on each change, until the returned function is called. */
  subscribe(changed: (what: "workload" | "roots") => void): () => void;
  /** The problem, in one line; `undefined` if all is well. */
  problem(): string | undefined;
}

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
