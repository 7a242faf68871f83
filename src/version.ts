import config from "../deno.json" with { type: "json" };

/** The version of this program, from `deno.json`. */
export const VERSION: string = config.version;

/**
 * The Istio release whose behavior the agent follows. It is the node metadata `ISTIO_VERSION`, from which istiod chooses the
 * configuration that the proxy understands. istiod treats an unknown number as the newest release.
 */
export const ISTIO_RELEASE = "1.31.1";
