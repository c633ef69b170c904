/** Opens the room of mail, and tells it where people reach the gateway. */
import type { Logger } from "pino";
import { systemTimers } from "../../base/clock.ts";
import { type Mail, type MailOptions, openMail } from "./mail.ts";

export interface MailPorts
  extends Pick<MailOptions, "store" | "clock" | "jobs" | "events" | "accounts" | "smtp" | "from" | "quotas"> {
  /** Holds the folder of mails that are sent nowhere. */
  readonly mailDir: string;
  /** Where people reach the gateway, if that is set. */
  readonly publicUrl: string | undefined;
  /** Where the gateway listens. */
  readonly host: string;
  readonly log: Logger;
}

export interface OpenMail extends Mail {
  /** The room of invoices is open, which puts mails itself. */
  attachesInvoices(file: MailOptions["invoiceFile"]): void;
  /** The gateway's address is known: links in mails lead there. */
  listensAt(port: number): void;
}

export function openMailRoom({ mailDir, publicUrl, host, log, ...ports }: MailPorts): OpenMail {
  let port = 0;
  let invoiceFile: MailOptions["invoiceFile"] = async () => undefined;
  const mail = openMail({
    ...ports,
    dataDir: mailDir,
    timers: systemTimers,
    // Without PUBLIC_URL people sign in on this machine only.
    address: () => publicUrl ?? `http://${host === "::1" ? "[::1]" : "127.0.0.1"}:${port}`,
    invoiceFile: (orgId, id) => invoiceFile(orgId, id),
    onFailure: (err, what) => log.warn({ err }, what),
  });
  return {
    ...mail,
    attachesInvoices(file) {
      invoiceFile = file;
    },
    listensAt(at) {
      port = at;
    },
  };
}
