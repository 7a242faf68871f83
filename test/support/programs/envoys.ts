/** The versions of Envoy to test with. A long run uses all of them. */
import { isLong } from "../long.ts";
import { ENVOY_VERSIONS, type RealEnvoy, realEnvoy } from "./envoy.ts";

/** Returns the binaries, newest last. */
export async function envoysOfRun(): Promise<readonly RealEnvoy[]> {
  return await Promise.all(isLong() ? ENVOY_VERSIONS.map((version) => realEnvoy(version)) : [realEnvoy()]);
}
