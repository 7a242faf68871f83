/**
 * Imported before client-node: its node-fetch 2 uses Node's deprecated punycode, and Deno 2.9 would print a warning
 * to the standard error of every command that reads a kubeconfig.
 */
import process from "node:process";

process.noDeprecation = true;
