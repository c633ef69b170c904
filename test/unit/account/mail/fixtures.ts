/** What the tests of mail stand on: a store whose acts run twice, jobs and timers that follow a clock set by hand, real servers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { type Mail, openMail } from "../../../../src/account/mail/mail.ts";
import type { SmtpServer } from "../../../../src/account/mail/settings.ts";
import { newOrg, type OrgRow } from "../../../../src/account/org.ts";
import { invitedUser, type UserRow } from "../../../../src/account/person.ts";
import type { Role } from "../../../../src/account/roles.ts";
import { AccountTables } from "../../../../src/account/tables.ts";
import type { Timers } from "../../../../src/base/clock.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import { Audit } from "../../../../src/store/events/audit.ts";
import { Events } from "../../../../src/store/events/events.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";
import { until } from "../../../support/wait.ts";

export const START = "2026-09-09T10:00:00Z";
export const FROM = { name: "Weir", address: "weir@gateway.example" };

/** Timers that fire when the clock is advanced. */
class ManualTimers implements Timers {
  readonly #clock: ManualClock;
  readonly #waiting = new Set<{ dueMs: number; act: () => void }>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  after = (delayMs: number, act: () => void): (() => void) => {
    const entry = { dueMs: this.#clock.monotonic() + delayMs, act };
    this.#waiting.add(entry);
    return () => void this.#waiting.delete(entry);
  };

  fire(): void {
    for (const entry of [...this.#waiting]) {
      if (entry.dueMs > this.#clock.monotonic() || !this.#waiting.delete(entry)) continue;
      entry.act();
    }
  }
}

export interface MailRig {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly accounts: AccountTables;
  readonly events: Events;
  readonly audit: Audit;
  readonly jobs: Jobs;
  readonly mail: Mail;
  readonly dataDir: string;
  readonly org: OrgRow;
  /** What was logged. */
  readonly failures: string[];
  /** Advances the clock and lets what is due run. */
  advance(ms: number): void;
  /** Adds a person with a role in the org. */
  member(email: string, role: Role, status?: UserRow["status"]): Promise<UserRow>;
  /** Resolves once no job of mails waits or runs. */
  idle(): Promise<unknown>;
  /** Stops jobs and mail as the process does, and begins again on the same folder. */
  restart(): Promise<void>;
}

/** For the top of a test file: another rig for every test. @param smtp asked at each opening; undefined: into the folder */
export function mailRig(smtp: () => SmtpServer | undefined = () => undefined): MailRig {
  let rig: MailRig & { readonly close: () => Promise<void> };
  beforeEach(async () => {
    rig = await openRig(smtp);
  });
  afterEach(async () => {
    await rig.close();
    rmSync(rig.dataDir, { recursive: true });
  });
  // Tests read the rig of their own run.
  return new Proxy({} as MailRig, { get: (_, name) => rig[name as keyof MailRig] });
}

async function openRig(smtp: () => SmtpServer | undefined) {
  const clock = new ManualClock(START);
  const timers = new ManualTimers(clock);
  const dataDir = mkdtempSync(join(tmpdir(), "weir-mail-"));
  const failures: string[] = [];
  const onFailure = (error: unknown, what = "") => void failures.push(`${what}: ${(error as Error).message}`);
  const opened = () => {
    const store = openStore(dataDir, { actsTwice: true });
    const accounts = new AccountTables(store);
    const events = new Events({ store, clock, onFailure });
    const audit = new Audit({ store, clock, onFailure });
    const jobs = new Jobs({ store, clock, timers, random: () => 0.5, holder: "local", onFailure });
    const mail = openMail({
      store,
      clock,
      timers,
      jobs,
      events,
      accounts,
      dataDir,
      onFailure,
      smtp: smtp(),
      from: FROM,
      address: () => "https://gateway.example",
      invoiceFile: async () => undefined,
      quotas: USUAL_QUOTAS,
    });
    return { store, accounts, events, audit, jobs, mail };
  };
  let rooms = opened();
  const begin = async () => {
    await rooms.mail.start();
    await rooms.jobs.start();
  };
  const close = async () => {
    await rooms.jobs.stop();
    for (const room of [rooms.mail, rooms.events, rooms.audit]) room.close();
    await rooms.store.close();
  };
  const given = { slug: "acme", name: "Acme", kind: "team", billingCountry: "US", planId: "local" } as const;
  const org = newOrg(given, clock.now());
  await rooms.accounts.act(() => rooms.accounts.addOrg(org));
  await begin();
  return {
    clock,
    dataDir,
    failures,
    org,
    close,
    get store() {
      return rooms.store;
    },
    get accounts() {
      return rooms.accounts;
    },
    get events() {
      return rooms.events;
    },
    get audit() {
      return rooms.audit;
    },
    get jobs() {
      return rooms.jobs;
    },
    get mail() {
      return rooms.mail;
    },
    advance(ms: number) {
      clock.advance(ms);
      timers.fire();
    },
    async member(email: string, role: Role, status: UserRow["status"] = "active") {
      const user = { ...invitedUser(email, clock.now()), status, sub: status === "active" ? email : "" };
      await rooms.accounts.act(() => {
        rooms.accounts.people.putUser(user);
        const { id: userId } = user;
        rooms.accounts.people.putMember({
          orgId: org.id,
          userId,
          role,
          addedAtMs: clock.now(),
          source: status === "invited" ? "invitation" : "creation",
        });
      });
      return user;
    },
    idle: () => until("no mail waits", () => waitingMails(rooms.jobs, clock) === 0),
    async restart() {
      await close();
      rooms = opened();
      await begin();
    },
  };
}

/** Running jobs, and those that are due: a lane of the daily look at keys always waits. */
function waitingMails(jobs: Jobs, _clock: ManualClock): number {
  const { running, lanes } = jobs.metrics();
  return running + Math.max(0, lanes - 1);
}

/** Waits for the mails and reads them from the folder, oldest first, as they stand there. */
export async function writtenMails(rig: MailRig): Promise<string[]> {
  await rig.idle();
  const names = (await rig.mail.folder?.names()) ?? [];
  const bytes = await Promise.all(names.reverse().map((name) => rig.mail.folder?.read(name)));
  return bytes.map((text) => text?.toString("latin1") ?? "");
}
