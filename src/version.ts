import config from "../deno.json" with { type: "json" };

/** The version of this program, as `deno.json` says it. */
export const VERSION: string = config.version;
