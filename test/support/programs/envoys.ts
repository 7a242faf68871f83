/** The versions of Envoy that a run tests with: all of them in a long run. */
import { isLong } from "../long.ts";
import { ENVOY_VERSIONS, type RealEnvoy, realEnvoy } from "./envoy.ts";

/** The binaries, the newest last. */
export async function envoysOfRun(): Promise<readonly RealEnvoy[]> {
  return await Promise.all(isLong() ? ENVOY_VERSIONS.map((version) => realEnvoy(version)) : [realEnvoy()]);
}
