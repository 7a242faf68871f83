import assert from "node:assert/strict";
import { animation, SECONDS } from "./animation.ts";
import { picture, recorded, RECORDING } from "./recording.ts";

const TEXT = await Deno.readTextFile(`${RECORDING}.txt`);

for (const [file, draw] of [["demo.svg", picture], ["demo-animated.svg", animation]] as const) {
  Deno.test(`the recording as a picture is made from its text: ${file}`, async () => {
    const path = RECORDING.replace(/demo$/, file);
    if (Deno.env.get("UPDATE") === "1") await Deno.writeTextFile(path, draw(TEXT));
    assert.equal(recorded(TEXT), TEXT);
    assert.equal(await Deno.readTextFile(path), draw(TEXT));
  });
}

Deno.test("the animation shows all lines within its seconds, and needs no script", () => {
  const svg = animation(TEXT);
  const delays = [...svg.matchAll(/animation-delay: ([\d.]+)s/g)].map(([, seconds]) => Number(seconds));
  assert.deepEqual(delays, delays.toSorted((a, b) => a - b));
  assert.ok(SECONDS >= 20 && SECONDS <= 30 && (delays.at(-1) ?? Infinity) <= SECONDS - 2, `${delays.at(-1)}`);
  assert.equal([...svg.matchAll(/<text /g)].length, TEXT.split("\n").filter((line) => line !== "").length);
  assert.match(svg, /prefers-reduced-motion: no-preference/);
  assert.doesNotMatch(svg, /<script|href/);
});
