/** Tells which expressions JavaScript's engine may run: those that it matches as Go does, and not in ages. */
import { childrenOf, isNullable, type Node, type RepeatNode, sizeOf } from "./tree.ts";

/** Steps that JavaScript's engine does in about 50 ms. */
const MOST_STEPS = 1e7;

/** JavaScript's engine compiles repetitions by writing them out, and refuses what becomes too large. */
const MOST_PARTS = 5000;

/**
 * Whether JavaScript's engine may run this expression on a subject of this length. The bound of its steps: each way to
 * match from each start, each as long as the expression. With one way for each start it is as good as linear.
 */
export function isForBacktracking(tree: Node, length: number): boolean {
  const size = sizeOf(tree);
  const ways = waysToMatch(tree, length);
  return size <= MOST_PARTS && (ways === 1 || (length + 1) * ways * size <= MOST_STEPS);
}

/** In how many ways an expression can match from one start on; `Infinity` where JavaScript's answer is not Go's. */
export function waysToMatch(node: Node, length: number): number {
  const ways = childrenOf(node).map((child) => waysToMatch(child, length));
  if (node.kind === "repeat") return waysToRepeat(node, ways[0] ?? 1, length);
  if (node.kind === "choice") return ways.reduce((sum, way) => sum + way, 0);
  return ways.reduce((product, way) => product * way, 1);
}

function waysToRepeat(node: RepeatNode, ways: number, length: number): number {
  if (differs(node)) return Infinity;
  const most = Math.min(node.max, length);
  return Math.max(1, most - node.min + 1) * ways ** Math.max(most, node.min);
}

/**
 * JavaScript skips a round of a repetition in which nothing matches, where Go ends the repetition with it; and
 * JavaScript forgets at each round what groups held in the round before.
 */
function differs({ body, min, max }: RepeatNode): boolean {
  return (min < max && isNullable(body)) || (max > 1 && hasCapture(body));
}

function hasCapture(node: Node): boolean {
  return node.kind === "capture" || childrenOf(node).some(hasCapture);
}
