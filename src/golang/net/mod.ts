/** Addresses, ports and names, read as Go reads them, and texts of addresses. */
export * from "./address_text.ts";
export * from "./nameservers.ts";
export * from "./network_of.ts";
export * from "./parse.ts";
