/** The programs of people who keep manifests in repositories, built from their Go modules in test/e2e/servers. */
import { goProgram } from "./go_program.ts";

const FOLDER = "test/e2e/servers";

/** The real kustomize. */
export function kustomizeProgram(): Promise<string> {
  return goProgram(`${FOLDER}/kustomize`, "sigs.k8s.io/kustomize/kustomize/v5");
}

/** The real Helm 3, built with Kubernetes' modules of the API server, which share the compiler's cache. */
export function helmProgram(): Promise<string> {
  return goProgram(`${FOLDER}/helm`, "helm.sh/helm/v3/cmd/helm");
}
