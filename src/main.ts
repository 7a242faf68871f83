import { main } from "./cli/mod.ts";
import { keepGuard } from "./platform/deno/temporary/guard.ts";
import { realWorld } from "./platform/deno/world.ts";

keepGuard();
// Not `await`: the compiled program is classic scripts (tools/compile/scripts.ts), which have none at their top.
main(realWorld()).then((code) => Deno.exit(code));
