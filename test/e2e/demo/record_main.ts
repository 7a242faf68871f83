/** Reads the output of `examples/demo.sh` from standard input and writes it to docs/images, unless it is incomplete. */
import { animation } from "./animation.ts";
import { picture, recorded, RECORDING } from "./recording.ts";

const text = recorded(await new Response(Deno.stdin.readable).text());
if (text === undefined) Deno.exit(1);
await Deno.writeTextFile(`${RECORDING}.txt`, text);
await Deno.writeTextFile(`${RECORDING}.svg`, picture(text));
await Deno.writeTextFile(`${RECORDING}-animated.svg`, animation(text));
