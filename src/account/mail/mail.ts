/**
 * The room's interface: mails are put in the acts that ask for them, and are sent by jobs. Without an SMTP server they are
 * written to `DATA_DIR/mail`.
 */

import { newId } from "../../base/ids.ts";
import type { Quotas } from "../../base/quota.ts";
import type { EventRow, Events } from "../../store/events/events.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { emailField } from "../fields/email.ts";
import type { InvitationMail } from "../people/member-operations.ts";
import { type AskedMail, AskedMails } from "./asked-mails.ts";
import { MailFolder } from "./folder-transport.ts";
import { beginToLook, keyLooker, lookAtKeys } from "./key-expiry.ts";
import { ADMINISTRATORS, OrgMails } from "./org-mails.ts";
import { mailSender, type SenderDeps, sendMail } from "./sender.ts";
import type { SmtpServer } from "./settings.ts";
import { smtpTransport } from "./smtp-transport.ts";
import type { MailTemplate, PutMail } from "./template.ts";
import { erasureBegun } from "./templates/erasure-begun.ts";
import { invitation } from "./templates/invitation.ts";
import { keyReported } from "./templates/key-reported.ts";
import { templateOfEvent } from "./templates.ts";

export interface MailOptions extends Omit<SenderDeps, "transport"> {
  readonly store: Store;
  readonly jobs: Pick<Jobs, "enqueue" | "handle" | "has">;
  readonly events: Pick<Events, "listen">;
  /** The server that takes mails; without one they are written to the data folder. */
  readonly smtp: SmtpServer | undefined;
  readonly dataDir: string;
  readonly quotas: Quotas;
}

export interface Mail {
  /**
   * Only in an act: the mail goes out if and only if the act commits.
   * @returns the key of its job
   * @throws ZodError where the data are not what the template reads, or `to` is no address
   */
  readonly put: PutMail;
  /** Only in an act. @throws WeirError 403 `plan_limit` for too many to people of the org's choice */
  putInvitation(mail: InvitationMail): void;
  /** Only in an act: a mail to an address that a tenant chose. @throws WeirError 403 `plan_limit` for too many */
  putAsked<D>(template: MailTemplate<D>, mail: AskedMail & { readonly data: D }): void;
  /** Only in an act: to the owners and admins of the key's org. */
  putKeyReported(mail: { readonly orgId: string; readonly keyId: string }): void;
  /** Only in an act: that the erasure of an org begins. @param name the org's @returns keys of the jobs */
  putErasureBegun(orgId: string, name: string): readonly string[];
  /** Whether a mail waits no more: it is sent, or given up. @param key of its job */
  isOut(key: string): boolean;
  /** Only in an act: to those who answer for the org; at most 50 a day of one template that is not essential. */
  readonly toOrg: Pick<OrgMails, "put" | "putOnce">;
  /** Mails that were written; undefined where mails are sent. */
  readonly folder: Pick<MailFolder, "names" | "read"> | undefined;
  /** Removes an org's mails from the data folder, also those of a time before there was a mail server. */
  eraseFiles(orgId: string): Promise<void>;
  /** Before the jobs start. */
  start(): Promise<void>;
  /** After the jobs have stopped. */
  close(): void;
}

/** Call before `jobs.start` and before the first event. */
export function openMail(options: MailOptions): Mail {
  const { store, clock, jobs, events, accounts, smtp, onFailure } = options;
  const files = new MailFolder(options.dataDir);
  const folder = smtp === undefined ? files : undefined;
  const transport =
    folder ??
    smtpTransport(smtp as SmtpServer, (error) => onFailure(error, "a connection to the mail server"));
  const put: PutMail = (template, { orgId, to, data }) => {
    const payload = { template: template.name, to: emailField.parse(to), data: template.data.parse(data) };
    const key = newId("job", clock.now());
    jobs.enqueue(sendMail, { orgId, payload, key });
    return key;
  };
  const toOrg = new OrgMails({ store, clock, accounts, put, onFailure });
  const asked = new AskedMails({
    store,
    clock,
    quotas: options.quotas,
    onFailure: (error) => onFailure(error, "old counts of mails could not be forgotten; it is tried again"),
  });
  const putAsked: Mail["putAsked"] = (template, mail) => {
    asked.count(mail);
    put(template, mail);
  };
  const looking = { accounts, clock, jobs, mails: toOrg };
  jobs.handle(sendMail, mailSender({ ...options, transport }));
  jobs.handle(lookAtKeys, keyLooker(looking));
  events.listen((event) => mailOfEvent(toOrg, event, onFailure));
  return {
    put,
    putAsked,
    putInvitation: ({ orgId, email: to, userId, orgName, role, invitedBy, inviterId: personId }) =>
      putAsked(invitation, { orgId, personId, to, data: { userId, orgName, role, invitedBy } }),
    putKeyReported: ({ orgId, keyId }) =>
      void toOrg.put(keyReported, { orgId, data: { keyId }, to: ADMINISTRATORS }),
    putErasureBegun: (orgId, name) => toOrg.put(erasureBegun, { orgId, data: { name } }) ?? [],
    isOut: (key) => !jobs.has(sendMail, key),
    toOrg,
    folder,
    eraseFiles: (orgId) => files.erase(orgId),
    start: () => store.act(() => beginToLook(looking), { isOwed: true }),
    close() {
      transport.close();
      toOrg.close();
      asked.close();
    },
  };
}

/** In the act of the event, which must not fail because nobody can be told of it. */
function mailOfEvent(toOrg: OrgMails, event: EventRow, onFailure: MailOptions["onFailure"]): void {
  const template = templateOfEvent.get(event.type);
  if (template === undefined) return;
  const data = template.data.safeParse(event.data);
  if (data.success) toOrg.put(template, { orgId: event.orgId, data: data.data });
  else onFailure(data.error, `no mail of ${template.name} was put: the event's data are others`);
}
