/** What one client, or all of them together, may cost. */

/**
 * The largest body. A request to the API server has at most 3 MiB (MaxRequestBodyBytes of k8s.io/apiserver), and a review
 * of an update holds the object twice; the rest is for what is around them.
 */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** How long a body may take: the API server waits 10 s for an answer unless told, 30 s at most. */
export const BODY_MILLISECONDS = 10_000;

/** Reviews under way. */
export const MAX_REVIEWS = 1000;

/** Bytes of the bodies of all of them: a pod has some KB, and the memory of a container is soon full of large ones. */
export const MAX_BYTES_UNDER_WAY = 128 * 1024 * 1024;

/**
 * Connections: an API server has a few. The API server keeps one without requests for 90 s (Go's net/http), and asks on one
 * of HTTP/2 every 30 s whether it lives.
 */
export const CONNECTIONS = { most: 2000, firstRequest: 15_000, silence: 180_000 } as const;
