/**
 * Silences Node's deprecation warning. Import this file before client-node. node-fetch 2 in client-node uses the
 * deprecated punycode, and Deno 2.9 would print a warning for every command that reads a kubeconfig.
 */
import process from "node:process";

process.noDeprecation = true;
