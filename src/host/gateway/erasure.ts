/** What is removed of an org that is erased: each room's part, in order. A room that keeps personal data adds its step here. */

import type { Logger } from "pino";
import { accountErasure, peopleOnlyOf } from "../../account/erasure/account-erasure.ts";
import { eraseOrg, erasureHandler } from "../../account/erasure/erasure.ts";
import type { ErasureStep, Position } from "../../account/erasure/erasure-steps.ts";
import { removeFilesOf } from "../../account/exports/export-jobs.ts";
import { endingOfMandates, moneyErasure } from "../../billing/money-erasure.ts";
import { creditLeft } from "../../billing/refunds/acts.ts";
import type { Config } from "../settings/config.ts";
import { exportDeps } from "./exports.ts";
import type { Rooms } from "./rooms.ts";

/** Before the jobs start. */
export function handleErasure(rooms: Rooms, config: Config, log: Logger): void {
  const { accounts, clock, jobs, mail, store, trail } = rooms;
  jobs.handle(
    eraseOrg,
    erasureHandler({
      accounts,
      clock,
      trail,
      steps: stepsOf(rooms, config),
      creditLeft: (orgId) => creditLeft({ ...rooms, ...rooms.billing }, orgId),
      mails: { putBegun: mail.putErasureBegun, isOut: mail.isOut },
      onErased: (org) => log.info({ org }, "the data of an organisation were erased"),
      caughtUp: () => store.caughtUp(),
      forgetRemoved: () => store.forgetRemoved(),
    }),
  );
}

function stepsOf(rooms: Rooms, config: Config): ErasureStep[] {
  const { accounts, analytics, answers, audit, clock, events, identity, policies, tickets } = rooms;
  const { subscriptions } = rooms.planRoom;
  const money = {
    ...rooms.billing,
    ...rooms.billing.topUps.tables,
    subscriptions,
    accounts,
    jobs: rooms.jobs,
  };
  return [
    endingOfMandates(money),
    { name: "records of calls", eraseOutside: (orgId) => analytics.erasure.erase(orgId) },
    { name: "what payloads count in the quota", erase: (orgId, most) => rooms.kept.erase(orgId, most) },
    { name: "answers of repeated requests", erase: (orgId, most) => answers.erase(orgId, most) },
    {
      name: "users of the analytics database",
      erase: (orgId, most) => analytics.analysts.erase(orgId, most),
    },
    { name: "stored responses", walk: (orgId, most, after) => eraseResponses(rooms, orgId, most, after) },
    {
      name: "answers and responses at other cells",
      eraseOutside: () => rooms.forgotten().then(() => false),
    },
    { name: "apps", erase: (orgId, most) => rooms.apps.tables.erase(orgId, most) },
    { name: "policies", erase: (orgId, most) => policies.tables.erase(orgId, most) },
    {
      name: "people of the built-in identity provider",
      async eraseOutside(orgId) {
        for await (const person of peopleOnlyOf(accounts, orgId)) await identity.forget(person);
        return false;
      },
    },
    ...accountErasure({
      accounts,
      tickets,
      now: () => clock.now(),
      forgetSessions: (userId) => identity.sessions.forgetAllOf(userId),
    }),
    { name: "directory", erase: (orgId, most) => rooms.directory.erase(orgId, most) },
    { name: "webhooks", erase: (orgId, most) => rooms.webhooks.erase(orgId, most) },
    { name: "events of payments", erase: (orgId, most) => rooms.payments.inbound.erase(orgId, most) },
    ...moneyErasure(money),
    ...jobsAndWhatTheyMake(rooms, config),
    { name: "events", erase: (orgId, most) => events.erase(orgId, most) },
    { name: "audit", erase: (orgId, most) => audit.erase(orgId, most) },
  ];
}

/** Behind the members, of whom nobody can ask for another job any more, and before events and audit, which jobs write. */
function jobsAndWhatTheyMake(rooms: Rooms, config: Config): ErasureStep[] {
  const { exports, jobs, mail } = rooms;
  return [
    {
      name: "jobs",
      walk: (orgId, most, after) => jobs.erase(orgId, most, after as [string, string] | undefined),
    },
    {
      // A job that fails waits again, with its payload; one that ends may leave a file.
      name: "jobs that run",
      eraseOutside: (orgId) => jobs.runsFor(orgId, eraseOrg),
    },
    {
      name: "mails that were not sent anywhere",
      eraseOutside: (orgId) => mail.eraseFiles(orgId).then(() => false),
    },
    {
      name: "files of exports",
      eraseOutside: (orgId) => removeFilesOf(exportDeps(rooms, config), orgId).then(() => false),
    },
    { name: "exports", erase: (orgId, most) => exports.erase(orgId, most) },
  ];
}

/** Erases responses of all the org's projects, deleted ones included. */
function eraseResponses(
  { accounts, responses }: Rooms,
  orgId: string,
  most: number,
  after: Position | undefined,
): Position | undefined {
  let before = (after ?? "") as string;
  for (const { id, orgId: owner } of accounts.allProjects(before)) {
    if (owner === orgId && responses.erase(id, most)) return before;
    before = id;
    if (--most === 0) return before;
  }
  return undefined;
}
