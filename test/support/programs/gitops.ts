/** Builds tools for manifests in repositories, from the Go modules in test/e2e/servers. */
import { goProgram } from "./go_program.ts";

const FOLDER = "test/e2e/servers";

/** Builds the real kustomize. */
export function kustomizeProgram(): Promise<string> {
  return goProgram(`${FOLDER}/kustomize`, "sigs.k8s.io/kustomize/kustomize/v5");
}

/** Builds the real Helm 3 against the Kubernetes modules of the API server, so that they are compiled only once. */
export function helmProgram(): Promise<string> {
  return goProgram(`${FOLDER}/helm`, "helm.sh/helm/v3/cmd/helm");
}
