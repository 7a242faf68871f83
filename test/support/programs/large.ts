/** The programs for tests that take long to build or to download. A test builds a missing program itself. */
import { checkoutIstiod } from "../../e2e/mesh/support/istiod.ts";
import { needsProgram } from "../test_when.ts";
import { apiServerProgram } from "./api_servers.ts";
import { realEnvoy } from "./envoy.ts";
import { helmProgram, kustomizeProgram } from "./gitops.ts";
import { goProgram } from "./go_program.ts";

/** Builds or downloads a program unless it exists. Returns the problem or throws if this fails. */
export type Make = () => Promise<string | undefined>;

/** Builds Go programs in this order. */
const made = (...programs: readonly (() => Promise<string>)[]) => async () => {
  for (const program of programs) await program();
  return undefined;
};

const GO: Readonly<Record<string, Make>> = {
  "kube-apiserver": made(() => apiServerProgram()),
  ...needsProgram("kubectl") !== undefined && {
    kubectl: made(() => goProgram("test/e2e/servers", "k8s.io/kubernetes/cmd/kubectl")),
  },
  Helm: made(helmProgram),
  istiod: async () => (await checkoutIstiod()).missing,
  "a control plane, and an application with gRPC": made(
    () => goProgram("test/e2e/servers/controlplane"),
    () => goProgram("test/e2e/servers/controlplane", "./grpcapp"),
  ),
  kustomize: made(kustomizeProgram),
  "Kubernetes' strategic merge": made(() => goProgram("test/oracle/kube")),
  nfpm: made(() => goProgram("tools/release/nfpm", "github.com/goreleaser/nfpm/v2/cmd/nfpm")),
  krew: made(() => goProgram("test/e2e/install/krew", "sigs.k8s.io/krew/cmd/krew")),
};

/**
 * The programs by name. They are built one after the other, because parallel builds would compile shared packages
 * twice. If Go is not installed, the list contains only programs that are downloaded.
 */
export const LARGE: Readonly<Record<string, Make>> = {
  Envoy: async () => (await realEnvoy()).missing,
  ...needsProgram("go") === undefined && GO,
};
