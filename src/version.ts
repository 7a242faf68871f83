import config from "../deno.json" with { type: "json" };

/** The version of this program, as `deno.json` says it. */
export const VERSION: string = config.version;

/**
 * The release of Istio that the agent behaves like. It is the node metadata `ISTIO_VERSION`, by which istiod chooses the
 * configuration that the proxy understands; istiod takes an unknown number for the newest release.
 */
export const ISTIO_RELEASE = "1.31.1";
