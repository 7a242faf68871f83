import { compareUtf8 } from "../../gojson.ts";
import { annotationInfo } from "./annotations.ts";
import { CHECKS } from "./checks.ts";
import { ANNOTATION, OTHER_ANNOTATIONS } from "./names.ts";
import { closest } from "../../closest.ts";
import type { Era } from "../era.ts";

/** Annotations by name, as a pod has them. */
export type Annotations = Readonly<Record<string, string>>;

/** Something about an annotation; `message` names it, its value and what is wanted. */
export interface AnnotationProblem {
  readonly annotation: string;
  readonly value: string;
  readonly message: string;
}

/**
 * All annotations whose values the injector of an era refuses, in order of their names; empty if there are none.
 * Source: Istio's validateAnnotations.
 */
export function validateAnnotations(annotations: Annotations, era: Era): AnnotationProblem[] {
  return sorted(annotations).flatMap(([annotation, value]) => {
    const info = annotationInfo(annotation);
    if (info?.check === undefined || !info.checkedIn?.includes(era)) return [];
    const { wanted, problem } = CHECKS[info.check];
    const reason = problem(value, era);
    if (reason === undefined) return [];
    return [{
      annotation,
      value,
      message: `Annotation "${annotation}" is "${value}" and must be ${wanted}: ${reason}`,
    }];
  });
}

const KNOWN: readonly string[] = [...Object.values(ANNOTATION), ...OTHER_ANNOTATIONS];
const known: ReadonlySet<string> = new Set(KNOWN);

/**
 * Annotations with `istio` in their names that nothing of Istio reads, in order of their names. The injector of 1.8
 * tells of each; today only those are told that look like one that is known.
 */
export function misspelledAnnotations(annotations: Annotations, era: Era): AnnotationProblem[] {
  return sorted(annotations).flatMap(([annotation, value]) => {
    if (!annotation.includes("istio") || known.has(annotation)) return [];
    const meant = closest(annotation, KNOWN);
    if (meant === undefined && era === "current") return [];
    const hint = meant === undefined ? "" : `: did you mean "${meant}"?`;
    return [{ annotation, value, message: `Unknown annotation "${annotation}" with the value "${value}"${hint}` }];
  });
}

function sorted(annotations: Annotations): [string, string][] {
  return Object.entries(annotations).sort(([a], [b]) => compareUtf8(a, b));
}
