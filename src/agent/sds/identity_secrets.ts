/** Serves the secrets `default` and `ROOTCA` of the workload itself. */
import type { Identity } from "../identity/mod.ts";
import type { Secret, SecretSource } from "./secret.ts";

export type SdsIdentity = Omit<Identity, "close">;

export function identitySecret(identity: SdsIdentity, kind: "workload" | "roots", changed: () => void): SecretSource {
  return {
    current: () => kind === "workload" ? workloadSecret(identity) : rootsSecret(identity),
    problem: () => identity.problem(),
    close: identity.subscribe((each) => each === kind && changed()),
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
