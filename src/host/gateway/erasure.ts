/** What is removed of an org that is erased: each room's part, in order. A room that keeps personal data adds its step here. */

import { accountErasure, peopleOnlyOf } from "../../account/erasure/account-erasure.ts";
import { eraseOrg, erasureHandler } from "../../account/erasure/erasure.ts";
import type { ErasureStep, Position } from "../../account/erasure/erasure-steps.ts";
import type { House } from "./house.ts";

/** Before the jobs start. */
export function handleErasure(house: House): void {
  const { clock, jobs, log, store, trail } = house.ground;
  const { account, mail } = house.people;
  jobs.handle(
    eraseOrg,
    erasureHandler({
      accounts: account.accounts,
      clock,
      trail,
      steps: stepsOf(house),
      creditLeft: house.billing.creditLeft,
      mails: { putBegun: mail.putErasureBegun, isOut: mail.isOut },
      onErased: (org) => log.info({ org }, "the data of an organisation were erased"),
      caughtUp: () => store.caughtUp(),
      forgetRemoved: () => store.forgetRemoved(),
    }),
  );
}

function stepsOf(house: House): ErasureStep[] {
  const { account, directory, identity } = house.people;
  const { accounts, tickets } = account;
  const { analytics, billing, detached, kept } = house;
  const { audit, clock, events } = house.ground;
  return [
    billing.endingOfMandates,
    { name: "records of calls", eraseOutside: (orgId) => analytics.erasure.erase(orgId) },
    { name: "streams of detached calls", eraseOutside: (orgId) => detached.erase(orgId) },
    { name: "what payloads count in the quota", erase: (orgId, most) => kept.bytes.erase(orgId, most) },
    { name: "answers of repeated requests", erase: (orgId, most) => kept.answers.erase(orgId, most) },
    {
      name: "users of the analytics database",
      erase: (orgId, most) => analytics.analysts.erase(orgId, most),
    },
    {
      name: "stored responses and conversations",
      walk: (orgId, most, after) => eraseResponses(house, orgId, most, after),
    },
    {
      name: "answers and responses at other cells",
      eraseOutside: () => kept.forgotten().then(() => false),
    },
    { name: "apps", erase: (orgId, most) => house.apps.tables.erase(orgId, most) },
    { name: "policies", erase: (orgId, most) => house.routing.policies.tables.erase(orgId, most) },
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
    { name: "directory", erase: (orgId, most) => directory.erase(orgId, most) },
    { name: "webhooks", erase: (orgId, most) => house.webhooks.erase(orgId, most) },
    ...billing.erasure,
    ...jobsAndWhatTheyMake(house),
    { name: "events", erase: (orgId, most) => events.erase(orgId, most) },
    { name: "audit", erase: (orgId, most) => audit.erase(orgId, most) },
  ];
}

/** Behind the members, of whom nobody can ask for another job any more, and before events and audit, which jobs write. */
function jobsAndWhatTheyMake({ exports, ground: { jobs }, people: { mail } }: House): ErasureStep[] {
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
      eraseOutside: (orgId) => exports.removeFilesOf(orgId).then(() => false),
    },
    { name: "exports", erase: (orgId, most) => exports.rows.erase(orgId, most) },
  ];
}

/** Erases responses and conversations of all the org's projects, deleted ones included. */
function eraseResponses(
  {
    kept: { responses, conversations },
    people: {
      account: { accounts },
    },
  }: House,
  orgId: string,
  most: number,
  after: Position | undefined,
): Position | undefined {
  let before = (after ?? "") as string;
  for (const { id, orgId: owner } of accounts.allProjects(before)) {
    if (owner === orgId && (responses.erase(id, most) || conversations.erase(id, most))) return before;
    before = id;
    if (--most === 0) return before;
  }
  return undefined;
}
