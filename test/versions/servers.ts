/** API servers and Envoys of several versions: runs the long form of some tests. */
import { KUBERNETES_VERSIONS } from "../support/programs/api_servers.ts";
import { ENVOY_VERSIONS } from "../support/programs/envoy.ts";
import { type ServerResult, today } from "./results.ts";
import { counted, runTests } from "./run_tests.ts";

interface Server {
  /** The server's name before the version in the names of tests. */
  readonly name: string;
  readonly versions: readonly string[];
  readonly tests: readonly string[];
}

export const SERVERS: Readonly<Record<"kubernetes" | "envoy", Server>> = {
  kubernetes: { name: "Kubernetes", versions: KUBERNETES_VERSIONS, tests: ["test/e2e/kube/versions_test.ts"] },
  envoy: {
    name: "Envoy",
    versions: ENVOY_VERSIONS,
    tests: [
      "test/e2e/agent/bootstrap_validate_test.ts",
      "test/e2e/agent/pods_test.ts",
      "test/e2e/explain/routing_test.ts",
    ],
  },
};

/** Runs the tests of some versions. */
export async function serversChecked(
  server: keyof typeof SERVERS,
  versions: readonly string[],
): Promise<ServerResult[]> {
  const { name, tests } = SERVERS[server];
  const patterns = versions.map((version) => ({ version, pattern: `${name} ${version.replaceAll(".", "\\.")}\\b` }));
  const filter = `/${patterns.map(({ pattern }) => pattern).join("|")}/`;
  const cases = await runTests(tests, { isLong: true, filter });
  return patterns.map(({ version, pattern }) => ({
    server,
    version,
    date: today(),
    ...counted(cases, new RegExp(pattern)),
  }));
}
