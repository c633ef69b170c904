/** Where versions are in force, as the lists of policies and of versions say it. */
import { expect, test } from "vitest";
import { policyRig, START } from "./fixtures.ts";

const rig = policyRig();

test("lists say where each version is in force, since when and by whom", async () => {
  await rig.create("house");
  await rig.addVersion("house");
  await rig.activate("house", 2);
  await rig.activate("house", 1, { project_id: "prj_2" });
  const how = { activated_at: START, activated_by: "key_1" };
  const [second, first] = [
    { version: 2, ...how },
    { version: 1, project_id: "prj_2", ...how },
  ];
  // The org's comes first, whatever the ids of projects are.
  expect(await rig.list()).toMatchObject([{ version: 2, newest: 2, in_force: [second, first] }]);
  expect((await rig.versions("house")).map((row) => row.in_force)).toEqual([[second], [first]]);
  await rig.deactivate("house");
  expect(await rig.list()).toMatchObject([{ version: 1, newest: 2, in_force: [first] }]);
});
