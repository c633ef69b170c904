/**
 * The job that sends one mail: composes it, hands it to the transport, and ends. A mail is sent at least once: a process that
 * dies between the server's answer and the end of the job sends it again, with the same Message-ID.
 */

import { z } from "zod";
import type { Clock, Timers } from "../../base/clock.ts";
import { HOUR_MS } from "../../base/time.ts";
import { FinalFailure, type JobHandler, type JobRun, jobKind } from "../../store/jobs/job.ts";
import { invitationId, isInvitation, isOver } from "../people/invitations.ts";
import type { AccountTables } from "../tables.ts";
import { type Attachment, htmlOf, type Letter, subjectOf, textOf } from "./letter.ts";
import type { MailTransport } from "./message.ts";
import { orgFormat } from "./org-format.ts";
import { readerOf, whyOrgMail } from "./reader.ts";
import type { Mailbox } from "./settings.ts";
import type { LetterContext } from "./template.ts";
import { templateNamed } from "./templates.ts";

/** Nine waits from half a minute to two hours, then some of three hours on average: two days in all. */
export const sendMail = jobKind({
  name: "mail.send",
  payload: z.object({ template: z.string(), to: z.string(), data: z.unknown() }),
  tries: 25,
  backoff: { firstMs: 30_000, mostMs: 4 * HOUR_MS },
  atOnce: 4,
  atOncePerLane: 2,
  leaseMs: 120_000,
});

type Waiting = z.output<typeof sendMail.payload>;

export interface SenderDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly transport: MailTransport;
  readonly from: Mailbox;
  readonly timers: Timers;
  /** Where people reach the gateway, without a slash at the end; asked for each mail. */
  readonly address: () => string;
  /** Port: a document of an org as a file; undefined where there is none. */
  readonly invoiceFile: (orgId: string, id: string) => Promise<Attachment | undefined>;
  /** For the operator's log. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/** A server that takes longer for one mail is given up for now. */
const SEND_MS = 120_000;
/** A mail that is being sent when the process stops has so many milliseconds left; a later one is sent again after the next start. */
const STOP_MS = 5000;

export function mailSender(deps: SenderDeps): JobHandler<Waiting> {
  return {
    async run(mail, job) {
      const letter = await compose(deps, mail, job);
      // What it would tell holds no more, such as an invitation that was taken back.
      if (letter === undefined) return undefined;
      const limit = timeLimit(deps.timers, job.signal);
      try {
        await deps.transport.send(
          {
            id: job.key,
            orgId: job.orgId,
            createdAtMs: job.createdAtMs,
            from: deps.from,
            to: mail.to,
            subject: subjectOf(letter),
            text: textOf(letter),
            html: htmlOf(letter),
            attachments: letter.attachments ?? [],
          },
          limit.signal,
        );
      } finally {
        limit.cancel();
      }
      return undefined;
    },
    gaveUp: ({ template }, { key }, error) =>
      deps.onFailure(new Error(error), `mail ${key} (${template}) was given up`),
  };
}

async function compose(deps: SenderDeps, mail: Waiting, job: JobRun): Promise<Letter | undefined> {
  const template = templateNamed.get(mail.template);
  if (template === undefined) throw new FinalFailure(`there is no template ${mail.template}`);
  const data = template.data.safeParse(mail.data);
  if (!data.success)
    throw new FinalFailure(`the data of ${template.name} are not valid: ${data.error.message}`);
  const context = contextOf(deps, job, mail.to);
  const composed = await template.compose(data.data, context);
  return composed && { why: whyOrgMail(context.reader, context.orgName), ...composed };
}

function contextOf(deps: SenderDeps, { orgId }: Pick<JobRun, "orgId">, to: string): LetterContext {
  const { accounts, clock } = deps;
  const org = accounts.org(orgId);
  const address = deps.address();
  return {
    orgId,
    orgName: org?.name || orgId,
    reader: readerOf(accounts, orgId, to),
    address,
    consolePage: (...path) =>
      [address, "console", ...[org?.slug ?? orgId, ...path].map(encodeURIComponent)].join("/"),
    accounts,
    ...orgFormat(org),
    invoiceFile: (id) => deps.invoiceFile(orgId, id),
    invitationId(userId) {
      const row = accounts.people.member(orgId, userId);
      const isOpen =
        row !== undefined && isInvitation(row, accounts.people.user(userId)) && !isOver(row, clock.now());
      return isOpen ? invitationId(row) : undefined;
    },
  };
}

function timeLimit({ after }: Timers, stop: AbortSignal): { signal: AbortSignal; cancel: () => void } {
  const limit = new AbortController();
  const cancels = [after(SEND_MS, () => limit.abort(new Error("the mail server took too long")))];
  const stopping = () => {
    cancels.push(after(STOP_MS, () => limit.abort(new Error("the process stops"))));
  };
  if (stop.aborted) stopping();
  else stop.addEventListener("abort", stopping, { once: true });
  return {
    signal: limit.signal,
    cancel() {
      stop.removeEventListener("abort", stopping);
      for (const cancel of cancels) cancel();
    },
  };
}
