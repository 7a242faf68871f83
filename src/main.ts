import { main } from "./cli/mod.ts";
import { realWorld } from "./core/world/real.ts";

Deno.exit(await main(realWorld()));
