import { compareUtf8 } from "../../golang/go_json.ts";
import { CHECKED } from "./checks.ts";
import { ANNOTATION, OTHER_ANNOTATIONS } from "./names.ts";
import { closest } from "../../base/text/mod.ts";
import type { Era } from "../era.ts";

type Annotations = Readonly<Record<string, string>>;

/** A problem of an annotation. `message` contains its name, its value and the valid values. */
interface AnnotationProblem {
  readonly annotation: string;
  readonly value: string;
  readonly message: string;
}

/**
 * Returns the annotations with values that Istio's injector rejects, in releases of this era. Sorted by name.
 * Source: Istio's validateAnnotations.
 */
export function validateAnnotations(annotations: Annotations, era: Era): AnnotationProblem[] {
  return sorted(annotations).flatMap(([annotation, value]) => {
    const checked = CHECKED.get(annotation);
    const reason = checked?.eras.includes(era) ? checked.check.problem(value, era) : undefined;
    if (reason === undefined) return [];
    const message = `Annotation "${annotation}" must be ${checked?.check.wanted}, not "${value}"`;
    return [{ annotation, value, message: reason === "" ? message : `${message}: ${reason}` }];
  });
}

const KNOWN: readonly string[] = [...Object.values(ANNOTATION), ...OTHER_ANNOTATIONS];
const known: ReadonlySet<string> = new Set(KNOWN);

/** An annotation that Istio does not know. `meant` is the known annotation that it resembles, if any. */
interface UnknownAnnotation {
  readonly annotation: string;
  readonly value: string;
  readonly meant: string | undefined;
}

/**
 * Returns annotations with `istio` in their names that Istio does not know, sorted by name. For the era `current`,
 * returns only annotations that resemble a known annotation. For earlier eras, returns all of them, as Istio 1.8 does.
 */
export function misspelledAnnotations(annotations: Annotations, era: Era): UnknownAnnotation[] {
  return sorted(annotations).flatMap(([annotation, value]) => {
    if (!annotation.includes("istio") || known.has(annotation)) return [];
    const meant = closest(annotation, KNOWN);
    return meant === undefined && era === "current" ? [] : [{ annotation, value, meant }];
  });
}

function sorted(annotations: Annotations): [string, string][] {
  return Object.entries(annotations).sort(([a], [b]) => compareUtf8(a, b));
}
