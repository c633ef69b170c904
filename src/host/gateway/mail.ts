/** Opens the room of mail, and tells it where people reach the gateway. */
import type { Logger } from "pino";
import { type MailOptions, openMail } from "../../account/mail/mail.ts";
import type { AccountTables } from "../../account/tables.ts";
import { type Clock, systemTimers } from "../../base/clock.ts";
import type { Events } from "../../store/events/events.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings/config.ts";

interface MailGround {
  readonly store: Store;
  readonly clock: Clock;
  readonly jobs: Jobs;
  readonly events: Events;
  readonly accounts: AccountTables;
  /** Holds the folder of mails that are sent nowhere. */
  readonly mailDir: string;
}

export function openMailRoom(config: Config, log: Logger, ground: MailGround) {
  const { store, clock, jobs, events, accounts } = ground;
  const { smtp, mailFrom: from, publicUrl, host } = config;
  let port = 0;
  let invoiceFile: MailOptions["invoiceFile"] = async () => undefined;
  const mail = openMail({
    store,
    clock,
    jobs,
    events,
    accounts,
    smtp,
    from,
    dataDir: ground.mailDir,
    timers: systemTimers,
    quotas: config.settings.quotas,
    // Without PUBLIC_URL people sign in on this machine only.
    address: () => publicUrl ?? `http://${host === "::1" ? "[::1]" : "127.0.0.1"}:${port}`,
    invoiceFile: async (orgId, id) => invoiceFile?.(orgId, id),
    onFailure: (err, what) => log.warn({ err }, what),
  });
  return {
    ...mail,
    /** The room of invoices is open, which puts mails itself. */
    attachesInvoices(file: NonNullable<MailOptions["invoiceFile"]>) {
      invoiceFile = file;
    },
    /** The gateway's address is known: links in mails lead there. */
    listensAt(at: number) {
      port = at;
    },
  };
}
