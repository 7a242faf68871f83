export { wasmModules } from "./modules.ts";
export { hasExtensions, withLocalModules } from "./rewrite.ts";
