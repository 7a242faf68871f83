import { main } from "./cli/mod.ts";
import { keepGuard } from "./platform/deno/temporary/guard.ts";
import { realWorld } from "./platform/deno/world.ts";

keepGuard();
// No top-level `await`: the compiled program consists of classic scripts (tools/compile/scripts.ts), which do not support it.
main(realWorld()).then((code) => Deno.exit(code));
