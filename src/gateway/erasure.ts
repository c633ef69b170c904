/** What is removed of an org that is erased: each room's part, in order. A room that keeps personal data adds its step here. */
import { accountErasure, peopleOnlyOf } from "../account/account-erasure.ts";
import { type ErasureStep, eraseOrg, erasureHandler } from "../account/erasure.ts";
import type { Config } from "../config.ts";
import { removeFilesOf } from "../exports/export-jobs.ts";
import { exportDeps } from "./exports.ts";
import type { Rooms } from "./rooms.ts";

/** Before the jobs start. */
export function handleErasure(rooms: Rooms, config: Config): void {
  const { accounts, clock, jobs, store, trail } = rooms;
  const forgetRemoved = () => store.forgetRemoved();
  jobs.handle(
    eraseOrg,
    erasureHandler({ accounts, clock, trail, steps: stepsOf(rooms, config), forgetRemoved }),
  );
}

function stepsOf(rooms: Rooms, config: Config): ErasureStep[] {
  const { accounts, analytics, answers, audit, clock, events, identity, jobs, policies, responses, tickets } =
    rooms;
  return [
    { name: "records of calls", isOutside: true, erase: (orgId) => analytics.erasure.erase(orgId) },
    { name: "answers of repeated requests", erase: (orgId, most) => answers.erase(orgId, most) },
    {
      name: "stored responses",
      erase: (orgId, most) => projectIds(rooms, orgId).some((projectId) => responses.erase(projectId, most)),
    },
    { name: "policies", erase: (orgId, most) => policies.tables.erase(orgId, most) },
    {
      name: "people of the built-in identity provider",
      isOutside: true,
      erase: async (orgId) => {
        await identity.forget(peopleOnlyOf(accounts, orgId));
        return false;
      },
    },
    ...accountErasure({
      ...{ accounts, tickets, now: () => clock.now() },
      forgetSessions: (userId) => identity.sessions.forgetAllOf(userId),
    }),
    { name: "directory", erase: (orgId, most) => rooms.directory.erase(orgId, most) },
    {
      name: "mails that were not sent anywhere",
      isOutside: true,
      erase: async () => {
        await rooms.mail.folder?.clear();
        return false;
      },
    },
    {
      name: "files of exports",
      isOutside: true,
      erase: (orgId) => removeFilesOf(exportDeps(rooms, config), orgId).then(() => false),
    },
    { name: "exports", erase: (orgId, most) => rooms.exports.erase(orgId, most) },
    { name: "jobs", erase: (orgId, most) => jobs.erase(orgId, most) },
    {
      // After the jobs: it leaves one of its own, which removes the deliveries.
      name: "webhooks",
      erase(orgId) {
        rooms.webhooks.erase(orgId);
        return false;
      },
    },
    { name: "events", erase: (orgId, most) => events.erase(orgId, most) },
    { name: "audit", erase: (orgId, most) => audit.erase(orgId, most) },
  ];
}

/** With deleted ones, which only their keys name. */
const projectIds = ({ accounts }: Pick<Rooms, "accounts">, orgId: string): string[] => [
  ...new Set([
    ...accounts.projectsOf(orgId).map(({ id }) => id),
    ...Array.from(accounts.keysByAge(orgId), ({ projectId }) => projectId),
  ]),
];
