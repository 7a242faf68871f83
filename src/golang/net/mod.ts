/** Parses addresses, ports and names as Go does, and formats addresses. */
export * from "./address_text.ts";
export * from "./nameservers.ts";
export * from "./parse.ts";
