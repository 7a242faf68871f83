/** Templates that do not end, and pods that ask for many: each is denied, and the next pod is injected. */
import assert from "node:assert/strict";
import { reviewBytes, webhookInjector } from "../../../test/support/kube/review.ts";
import { reviewPod } from "./review_pod.ts";

const HOSTILE: Readonly<Record<string, readonly [template: string, message: RegExp]>> = {
  "an endless range": ["{{ range 100000000 }}{{ end }}", /exceeded 10000000 steps/],
  "ranges within ranges": ["{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}", /exceeded 10000000 steps/],
  "a template that calls itself": [
    '{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}',
    /exceeded maximum template depth/,
  ],
  "a text that doubles": [
    '{{ $s := "a" }}{{ range 40 }}{{ $s = print $s $s }}{{ end }}',
    /the results of functions exceed 67108864 bytes/,
  ],
  "a list that doubles": [
    "{{ $s := list 1 }}{{ range 40 }}{{ $s = concat $s $s }}{{ end }}",
    /the results of functions exceed 67108864 bytes/,
  ],
  "output without an end": [
    '{{ range 10000000 }}{{ "aaaaaaaaaaaaaaaa" }}{{ end }}',
    /output exceeds 16777216 characters/,
  ],
};

const INDENT = "\n    ";

function injectorOf(template: string) {
  const whole = `${template}spec: {containers: [{name: istio-proxy, image: proxy}]}`;
  return webhookInjector(`policy: enabled\ntemplates:\n  sidecar: |${INDENT}${whole}\n  other: |${INDENT}spec: {}\n`);
}

function podOf(containers: number, templates: readonly string[] = []) {
  const annotations = templates.length === 0 ? {} : { "inject.istio.io/templates": templates.join(",") };
  const list = Array.from({ length: containers }, (_, index) => ({ name: `app-${index}`, image: "nginx" }));
  return reviewBytes({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", annotations },
    spec: { containers: list },
  });
}

for (const [what, [template, message]] of Object.entries(HOSTILE)) {
  Deno.test(`a template is denied: ${what}`, () => {
    const injector = injectorOf(template);
    const answer = reviewPod(podOf(1), { injector, path: "/inject" });
    assert.equal(answer.reason, "template-failed");
    assert.match(answer.message, message);
    const other = reviewPod(podOf(1, ["other"]), { injector, path: "/inject" });
    assert.equal(other.result, "injected");
  });
}

Deno.test("a template whose time is over is denied: in loops, in calls of functions, after one that takes long", () => {
  const templates = [
    "{{ range 100000000 }}{{ end }}",
    '{{ range 100 }}{{ $x := upper "a" }}{{ end }}',
    '{{ $x := derivePassword 1 "long" "p" "u" "s" }}',
  ];
  for (const template of templates) {
    let asked = 0;
    const isLate = () => ++asked > 0;
    const { result, message } = reviewPod(podOf(1), { injector: injectorOf(template), path: "/inject", isLate });
    assert.deepEqual([result, asked], ["failed", 1]);
    assert.match(message, /takes too long/);
  }
});

Deno.test("a pod with many containers and templates is denied before they are merged", () => {
  const injector = injectorOf("");
  const denied: readonly (readonly [number, number, RegExp])[] = [
    [900, 100, /The pod has 90000 containers times templates \(900 times 100\), but at most 10000 are allowed/],
    [1001, 1, /The pod has 1001 containers, but at most 1000 are allowed/],
    [1, 101, /The pod has 101 templates .*, but at most 100 are allowed/],
  ];
  for (const [containers, templates, message] of denied) {
    const answer = reviewPod(podOf(containers, Array<string>(templates).fill("sidecar")), {
      injector,
      path: "/inject",
    });
    assert.equal(answer.reason, "too-large");
    assert.match(answer.message, message);
  }
  assert.equal(
    reviewPod(podOf(900, Array<string>(10).fill("sidecar")), { injector, path: "/inject" }).result,
    "injected",
  );
});
