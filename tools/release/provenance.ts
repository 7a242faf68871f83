import { RUNTIME_VERSION } from "../compile/platforms.ts";
import { isoTime } from "../compile/source_state.ts";
import { sha256 } from "./checksums.ts";
import type { Binary, Document, Release } from "./release.ts";

/** The builder of a release. */
export interface Builder {
  /** A URI that identifies the builder, so that readers can decide whether to trust it. */
  readonly id: string;
  /** The identifier of the builder's run; `undefined` if the run has none. */
  readonly invocation: string | undefined;
}

/**
 * Returns the builder named in the variables of a GitHub workflow; without them, a URI for a local machine, which is
 * not a trusted builder.
 */
export function builderOf(env: (name: string) => string | undefined): Builder {
  const [server, repository, workflow, run] = ["SERVER_URL", "REPOSITORY", "WORKFLOW_REF", "RUN_ID"]
    .map((name) => env(`GITHUB_${name}`));
  if (server === undefined || repository === undefined || workflow === undefined) {
    return { id: "urn:kubectl-mesh:built-by-hand", invocation: undefined };
  }
  return { id: `${server}/${workflow}`, invocation: run && `${server}/${repository}/actions/runs/${run}` };
}

/**
 * Returns an in-toto statement (v1) with SLSA provenance (v1) for files: their sources, the runtimes, and the builder.
 * `lock` contains the bytes of deno.lock, which pins all libraries. Source: slsa.dev/spec/v1.0/provenance.
 */
export function provenance(
  { homepage, version, source, binaries }: Release,
  files: readonly Document[],
  { builder, lock }: { readonly builder: Builder; readonly lock: Uint8Array },
): string {
  const { commit, seconds } = source;
  const repository = `git+${homepage}`;
  return `${
    JSON.stringify(
      {
        _type: "https://in-toto.io/Statement/v1",
        subject: files.map(({ name, content }) => ({ name, digest: { sha256: sha256(content) } })),
        predicateType: "https://slsa.dev/provenance/v1",
        predicate: {
          buildDefinition: {
            buildType: `${homepage}/blob/v${version}/docs/install.md#build-a-release`,
            externalParameters: { source: repository, ref: `refs/tags/v${version}` },
            internalParameters: { sourceDateEpoch: seconds, deno: RUNTIME_VERSION },
            resolvedDependencies: [
              {
                uri: `${repository}@refs/tags/v${version}`,
                ...commit === "" ? {} : { digest: { gitCommit: commit } },
              },
              { name: "deno.lock", digest: { sha256: sha256(lock) } },
              ...binaries.map(({ platform }: Binary) => ({
                name: `denort-${RUNTIME_VERSION}-${platform.target}`,
                digest: { sha256: platform.sha256 },
              })),
            ],
          },
          runDetails: {
            builder: { id: builder.id },
            metadata: { invocationId: builder.invocation ?? `${version}@${isoTime(seconds)}` },
          },
        },
      },
      undefined,
      2,
    )
  }\n`;
}
