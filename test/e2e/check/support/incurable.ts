/**
 * Breakages that no command of the advice can heal in these tests, with the reasons. The first command heals all
 * others.
 */

/** The reasons, by the name of the breakage. */
export const INCURABLE: Readonly<Record<string, string>> = {
  "no webhook, and nothing shows who installed it":
    "only istioctl or the operator that installed it knows its settings",
};

/** The first commands that are allowed for these breakages: they only show something. */
export const NO_CURE = /^(kubectl (get|describe|logs|version|mesh check|mesh webhook) ?|oc )/;
