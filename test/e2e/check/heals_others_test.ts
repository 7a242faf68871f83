/** The other half of the breakages of `heals_test.ts`: one file would take two minutes. */
import { testWhen } from "../../support/test_when.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { healEverySecond } from "./support/healing.ts";

testWhen(
  needsCluster(),
  "each other check reports its problem and only that, until its advice is followed",
  async (t) => {
    await healEverySecond(t, 1);
  },
);
